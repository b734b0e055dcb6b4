#include "bind/parts.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/vectors.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

// Calls Python functions that combine the numbers of all parts in place.
class PythonReducer : public Reducer {
  public:
    PythonReducer(nb::callable add, nb::callable maximise)
        : add_(std::move(add)), maximise_(std::move(maximise)) {}
    ~PythonReducer() override {
        nb::gil_scoped_acquire acquire;
        add_.reset();
        maximise_.reset();
    }

    void add(std::span<std::int64_t> numbers) override { call(add_, numbers); }
    void maximise(std::span<std::uint64_t> numbers) override { call(maximise_, numbers); }
    bool is_distributed() const override { return true; }

  private:
    // Python works on an array of its own: it may keep the array after the call.
    template <class Number>
    static void call(const nb::callable& function, std::span<Number> numbers) {
        nb::gil_scoped_acquire acquire;
        Number* data;
        auto array = new_array<Number>({numbers.size()}, &data);
        std::copy(numbers.begin(), numbers.end(), data);
        nb::object object = nb::cast(array);
        function(object);
        std::copy(data, data + numbers.size(), numbers.begin());
    }

    nb::callable add_, maximise_;
};

OwnedPart make_part(nb::callable add, nb::callable maximise, std::uint64_t all_rows,
                    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs) {
    check_at_most(all_rows, kMaxRows, "rows in all parts");
    OwnedPart owned;
    owned.reducer = std::make_shared<PythonReducer>(std::move(add), std::move(maximise));
    owned.part.reducer = owned.reducer.get();
    owned.part.all_rows = all_rows;
    owned.part.runs.clear();
    std::uint64_t begin = 0;
    for (auto [first_number, rows] : runs) {
        if (first_number > all_rows || rows > all_rows - first_number)
            throw InputError("a run of rows ends after the last row; there are " +
                             std::to_string(all_rows) + " rows in all parts");
        owned.part.runs.push_back({begin, first_number});
        begin += rows;
        check_at_most(begin, kMaxRows, "rows in a part");
    }
    if (owned.part.runs.empty()) owned.part.runs.push_back({});
    owned.rows = begin;
    return owned;
}

}  // namespace

void bind_parts(nb::module_& module) {
    nb::class_<OwnedPart>(module, "Part",
                          "The rows of this process as a part of all rows of a fit.")
        .def(
            "__init__",
            [](OwnedPart* self, nb::callable add, nb::callable maximise, std::uint64_t all_rows,
               std::vector<std::pair<std::uint64_t, std::uint64_t>> runs) {
                new (self)
                    OwnedPart(make_part(std::move(add), std::move(maximise), all_rows, runs));
            },
            nb::arg("add"), nb::arg("maximise"), nb::arg("all_rows"), nb::arg("runs"),
            "`add` and `maximise` replace the integers of an array by their sums, or by the "
            "largest "
            "ones, over all parts; all parts call them in the same order. `runs` lists the runs of "
            "consecutive rows in this part: the number of the first row among all rows, and the "
            "number of rows.")
        .def_prop_ro("all_rows", [](const OwnedPart& self) { return self.part.all_rows; })
        .def_prop_ro("n_rows", [](const OwnedPart& self) { return self.rows; });
}
