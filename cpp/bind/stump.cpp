#include "stump/stump.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "stump/blocks.hpp"
#include "stump/classes.hpp"
#include "stump/quantised.hpp"
#include "stump/rounds.hpp"
#include "tree/validate.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Doubles = nb::ndarray<nb::numpy, double>;
using ClassArray = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BlockArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// Below this many values starting a thread takes longer than the work.
constexpr std::size_t kSmallTable = 100'000;

StumpCriterion criterion_named(const std::string& name) {
    if (name == "error") return StumpCriterion::error;
    if (name == "exponential") return StumpCriterion::exponential;
    if (name == "squared") return StumpCriterion::squared;
    throw InputError("unknown criterion '" + name + "': error, exponential or squared");
}

StumpVariant variant_named(const std::string& name) {
    if (name == "discrete") return StumpVariant::discrete;
    if (name == "real") return StumpVariant::real;
    if (name == "gentle") return StumpVariant::gentle;
    if (name == "logit") return StumpVariant::logit;
    if (name == "mada") return StumpVariant::mada;
    throw InputError("unknown variant '" + name + "': discrete, real, gentle, logit or mada");
}

void check_length(std::size_t given, std::size_t rows, const char* what) {
    if (given != rows)
        throw InputError(std::string(what) +
                         " must have one entry a row: " + std::to_string(given) +
                         " were given for " + std::to_string(rows) + " rows");
}

std::span<const double> span_of(const DoubleArray& array) { return {array.data(), array.shape(0)}; }

// A list of its own, so that the columns stay alive and in place whatever happens to the caller's.
nb::object held(nb::object columns) {
    if (!nb::isinstance<nb::list>(columns)) return columns;
    nb::list copy;
    for (nb::handle column : columns) copy.append(column);
    return copy;
}

int threads_for(const Table& table, int threads) {
    return table.rows * table.columns.size() < kSmallTable ? 1 : threads;
}

StumpTable table_for(const Table& table, const std::vector<std::uint32_t>& categories,
                     const Bins* bins, Isa isa, Team& team) {
    if (table.rows == 0) throw InputError("there are no rows");
    if (table.rows > RowOrder::kRow) throw InputError("at most 2^31 - 1 rows");
    if (table.columns.size() > Node::kMaxFeature) throw InputError("there are too many features");
    if (categories.size() != table.columns.size())
        throw InputError("categories must name every column");
    for (std::uint32_t levels : categories)
        if (levels > kMaxCategories) throw InputError("at most 65535 levels a column");
    if (bins == nullptr) return StumpTable(table, categories, isa, team);
    if (bins->features.size() != table.columns.size())
        throw InputError("the table has another number of columns than the bins");
    return StumpTable(table, bins->features, isa, team);
}

// A table prepared once, with the threads that search it.
class Search {
  public:
    Search(nb::object columns, const std::vector<std::uint32_t>& categories, const Bins* bins,
           const std::string& isa, int threads)
        : columns_(held(std::move(columns))),
          source_(table_of(columns_)),
          isa_(parse_isa(isa)),
          team_(threads_for(source_, threads)) {
        nb::gil_scoped_release release;
        table_.emplace(table_for(source_, categories, bins, isa_, team_));
        finder_.emplace(*table_, isa_, team_);
    }

    const StumpTable& table() const { return *table_; }
    std::size_t rows() const { return source_.rows; }
    Isa isa() const { return isa_; }
    Team& team() { return team_; }
    // Whoever uses the threads holds this: another Python thread may ask at the same time.
    std::mutex& in_use() { return in_use_; }

    Stump best(DoubleArray target, DoubleArray weight, const std::string& name) {
        StumpCriterion criterion = criterion_named(name);
        check_length(target.shape(0), rows(), "targets");
        check_length(weight.shape(0), rows(), "weights");
        nb::gil_scoped_release release;
        std::scoped_lock lock(in_use_);
        QuantisedRows quantised(span_of(target), span_of(weight), criterion, team_);
        finder_->sweep(criterion, criterion == StumpCriterion::squared,
                       [&](Range run, std::int64_t* response, std::int64_t* weights, int) {
                           return quantised.fill(run, response, weights);
                       });
        return finder_->best(criterion, quantised.scale()).stump;
    }

    Stump best_of_classes(ClassArray target, std::uint32_t classes, DoubleArray weight) {
        check_length(target.shape(0), rows(), "targets");
        check_length(weight.shape(0), rows(), "weights");
        nb::gil_scoped_release release;
        std::scoped_lock lock(in_use_);
        return bosquet::best_of_classes(table(), team_, {target.data(), target.shape(0)}, classes,
                                        span_of(weight));
    }

    Stump best_of_signs(DoubleMatrix target, DoubleMatrix weight) {
        check_length(target.shape(1), rows(), "targets");
        check_length(weight.shape(1), rows(), "weights");
        if (target.shape(0) != weight.shape(0))
            throw InputError("targets and weights must have the same shape");
        nb::gil_scoped_release release;
        std::scoped_lock lock(in_use_);
        std::size_t size = target.shape(0) * target.shape(1);
        return bosquet::best_of_signs(table(), team_, {target.data(), size},
                                      static_cast<std::uint32_t>(target.shape(0)),
                                      {weight.data(), size});
    }

  private:
    nb::object columns_;
    Table source_;
    Isa isa_;
    Team team_;
    std::optional<StumpTable> table_;
    std::optional<StumpFinder> finder_;
    std::mutex in_use_;
};

// What a stump says of rows whose sides are known, one output behind the other.
Doubles answers(const Stump& stump, std::size_t rows, const std::vector<std::uint8_t>& right) {
    std::vector<std::size_t> shape{rows};
    if (stump.outputs() > 1) shape.insert(shape.begin(), stump.outputs());
    double* out;
    Doubles result = new_array<double>(shape, &out);
    for (std::size_t k = 0; k < stump.outputs(); ++k, out += rows) {
        const double sides[2] = {stump.side(false)[k], stump.side(true)[k]};
        for (std::size_t i = 0; i < rows; ++i) out[i] = sides[right[i]];
    }
    return result;
}

Doubles on_rows(const Stump& stump, Search& search) {
    std::vector<std::uint8_t> right(search.rows());
    {
        nb::gil_scoped_release release;
        std::scoped_lock lock(search.in_use());
        StumpSides sides(search.table(), stump, search.isa());
        sides.fill({0, right.size()}, right.data());
    }
    return answers(stump, right.size(), right);
}

Doubles on_values(const Stump& stump, DoubleArray values) {
    std::vector<std::uint8_t> right(values.shape(0));
    for (std::size_t i = 0; i < right.size(); ++i)
        right[i] = !stump.is_constant() && !stump.goes_left(values.data()[i]);
    return answers(stump, right.size(), right);
}

Doubles values_of(const Stump& stump) {
    double* out;
    Doubles result = new_array<double>({2, stump.outputs()}, &out);
    std::copy(stump.values.begin(), stump.values.end(), out);
    return result;
}

void add_to(const Stump& stump, Ensemble& ensemble, double scale,
            std::optional<DoubleMatrix> values) {
    if (!values) return append_stump(stump, stump.values, scale, ensemble);
    if (values->shape(0) != 2) throw InputError("values must have the shape (2, outputs)");
    append_stump(stump, {values->data(), 2 * values->shape(1)}, scale, ensemble);
}

using StumpState = std::tuple<std::int32_t, bool, bool, double, std::vector<std::uint32_t>,
                              std::vector<double>, double, double, double, double>;

StumpState state_of(const Stump& stump) {
    return {
        stump.feature, stump.nominal, stump.missing_left, stump.threshold, stump.left_categories,
        stump.values,  stump.merit,   stump.gain,         stump.rows,      stump.left_rows};
}

Stump stump_of(StumpState state) {
    Stump stump;
    std::tie(stump.feature, stump.nominal, stump.missing_left, stump.threshold,
             stump.left_categories, stump.values, stump.merit, stump.gain, stump.rows,
             stump.left_rows) = std::move(state);
    return stump;
}

// Boosting on a search's table; the rounds hold on to the search.
class Boost {
  public:
    Boost(std::shared_ptr<Search> search, DoubleArray target, DoubleArray weight,
          const std::string& variant, double learning_rate)
        : search_(std::move(search)) {
        StumpVariant chosen = variant_named(variant);
        check_length(target.shape(0), search_->rows(), "targets");
        check_length(weight.shape(0), search_->rows(), "weights");
        nb::gil_scoped_release release;
        std::scoped_lock lock(search_->in_use());
        rounds_.emplace(search_->table(), search_->isa(), search_->team(), span_of(target),
                        span_of(weight), chosen, learning_rate);
    }

    nb::dict round(Ensemble& ensemble) {
        StumpRound report;
        {
            nb::gil_scoped_release release;
            std::scoped_lock lock(search_->in_use());
            report = rounds_->round(ensemble);
        }
        nb::dict out;
        out["error"] = report.error;
        out["alpha"] = report.alpha;
        out["z"] = report.z;
        out["training_error"] = report.training_error;
        out["taken"] = report.taken;
        out["stump"] = nb::cast(std::move(report.stump));
        return out;
    }

    Doubles margins() const {
        double* out;
        Doubles result = new_array<double>({search_->rows()}, &out);
        std::span<const double> margins = rounds_->margins();
        std::copy(margins.begin(), margins.end(), out);
        return result;
    }

    Doubles weights() const {
        double* out;
        Doubles result = new_array<double>({search_->rows()}, &out);
        rounds_->weights(out);
        return result;
    }

  private:
    std::shared_ptr<Search> search_;
    std::optional<StumpBoost> rounds_;
};

Table features_of(const BlockArray& block, std::size_t rows) {
    if (block.shape(1) != rows)
        throw InputError("a block must have the shape (features, rows): it has " +
                         std::to_string(block.shape(1)) + " columns for " + std::to_string(rows) +
                         " rows");
    bool narrow = block.dtype() == nb::dtype<float>();
    if (!narrow && block.dtype() != nb::dtype<double>())
        throw InputError("a block must hold 32- or 64-bit floats");
    auto item = static_cast<std::ptrdiff_t>(block.itemsize());
    Table table{rows, std::vector<Column>(block.shape(0))};
    for (std::size_t f = 0; f < table.columns.size(); ++f)
        table.columns[f] = {static_cast<const std::byte*>(block.data()) +
                                static_cast<std::ptrdiff_t>(f) * block.stride(0) * item,
                            block.stride(1) * item, narrow ? ColumnType::f32 : ColumnType::f64};
    return table;
}

Stump best_of_blocks(nb::object blocks, DoubleArray target, DoubleArray weight,
                     const std::string& criterion, int threads, const std::string& isa) {
    check_length(weight.shape(0), target.shape(0), "weights");
    if (target.shape(0) == 0) throw InputError("there are no rows");
    Team team(threads);
    auto search = make_block_search(span_of(target), span_of(weight), criterion_named(criterion),
                                    parse_isa(isa), team);
    for (nb::handle item : nb::iter(blocks)) {
        auto [first, block] = nb::cast<std::tuple<std::int64_t, BlockArray>>(item);
        std::int64_t end = first + static_cast<std::int64_t>(block.shape(0));
        if (first < 0 || end > Node::kMaxFeature) throw InputError("a feature number is negative");
        Table features = features_of(block, target.shape(0));
        nb::gil_scoped_release release;
        search->add(static_cast<std::uint32_t>(first), features);
    }
    return search->best();
}

void bind_stump_class(nb::module_& module) {
    nb::class_<Stump>(module, "Stump", "One question about one feature, an answer on either side.")
        .def_ro("feature", &Stump::feature, "Number of the feature; -1 for a constant rule.")
        .def_ro("threshold", &Stump::threshold, "Values up to it go left.")
        .def_ro("left_categories", &Stump::left_categories,
                "Codes of a nominal feature that go left.")
        .def_ro("nominal", &Stump::nominal, "Whether categories decide, not the threshold.")
        .def_ro("missing_left", &Stump::missing_left, "Whether missing values go left.")
        .def_prop_ro("values", values_of, nb::rv_policy::move,
                     "What is said on the left and on the right: (2, outputs).")
        .def_ro("merit", &Stump::merit,
                "The criterion's value in the units of the weights: less is better.")
        .def_ro("gain", &Stump::gain, "How much less that is than the best constant's.")
        .def("on_rows", on_rows, nb::arg("search"),
             "What it says of the rows it was learned on: (rows,), or (outputs, rows).")
        .def("on_values", on_values, nb::arg("values"),
             "What it says of rows with these values of its feature.")
        .def("add_to", add_to, nb::arg("ensemble"), nb::arg("scale"),
             nb::arg("values").none() = nb::none(),
             "Appends it as a tree whose leaves hold its values, or those given, times scale.")
        .def("__getstate__", state_of)
        .def("__setstate__",
             [](Stump& self, const StumpState& state) { new (&self) Stump(stump_of(state)); });
}

}  // namespace

void bind_stump(nb::module_& module) {
    bind_stump_class(module);
    nb::class_<Search>(module, "StumpSearch", "A table prepared once and searched every round.")
        .def(nb::init<nb::object, std::vector<std::uint32_t>, const Bins*, const std::string&,
                      int>(),
             nb::arg("columns"), nb::arg("categories"), nb::arg("bins").none(), nb::arg("isa"),
             nb::arg("threads"), "Without bins every threshold between two values is searched.")
        .def_prop_ro("n_rows", &Search::rows)
        .def_prop_ro("n_features", [](const Search& self) { return self.table().features(); })
        .def("best", &Search::best, nb::arg("target"), nb::arg("weight"), nb::arg("criterion"),
             "The stump of least weighted 'error' or 'exponential' loss of targets -1 and 1, or "
             "'squared' error of any.")
        .def("best_of_classes", &Search::best_of_classes, nb::arg("target"), nb::arg("n_classes"),
             nb::arg("weight"), "One class a side, for the least weighted 0-1 error.")
        .def("best_of_signs", &Search::best_of_signs, nb::arg("target"), nb::arg("weight"),
             "A sign for each class on each side; arrays of shape (classes, rows).");

    nb::class_<Boost>(module, "StumpBoost", "Boosting on stumps, two classes, round by round.")
        .def(nb::init<std::shared_ptr<Search>, DoubleArray, DoubleArray, const std::string&,
                      double>(),
             nb::arg("search"), nb::arg("target"), nb::arg("weight"), nb::arg("variant"),
             nb::arg("learning_rate"))
        .def("round", &Boost::round, nb::arg("ensemble"),
             "One round: error, alpha, z, training_error, taken, stump. A stump without error, or "
             "no better than chance, is returned and not taken.")
        .def("margins", &Boost::margins, "y f(x) of each row, as the votes add up.")
        .def("weights", &Boost::weights, "The next round's distribution of the rows.");

    module.def("best_of_blocks", best_of_blocks, nb::arg("blocks"), nb::arg("target"),
               nb::arg("weight"), nb::arg("criterion"), nb::arg("threads") = 1,
               nb::arg("isa") = "auto",
               "The best stump of features given lazily: an iterable of (number of the first "
               "feature, floats of shape (features, rows)), none of which is kept.");
}
