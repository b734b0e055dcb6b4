#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "tree/predict.hpp"
#include "tree/tree.hpp"

namespace nb = nanobind;
using namespace bosquet;

void bind_tree(nb::module_& module) {
    nb::class_<Ensemble>(module, "Ensemble", "Trees and what they start from.")
        .def("__init__", [](Ensemble* self, std::uint32_t features, std::uint32_t outputs,
                            std::vector<double> base, std::vector<std::uint32_t> categories) {
            if (base.size() != outputs) throw InputError("base must have one entry an output");
            categories.resize(features);
            new (self) Ensemble{features, outputs, std::move(base), std::move(categories), {}};
        }, nb::arg("n_features"), nb::arg("n_outputs"), nb::arg("base"), nb::arg("categories"))
        .def_prop_ro("n_trees", [](const Ensemble& self) { return self.trees.size(); })
        .def_prop_ro("n_outputs", [](const Ensemble& self) { return self.outputs; })
        .def_prop_ro("n_features", [](const Ensemble& self) { return self.features; })
        .def_prop_ro("base", [](const Ensemble& self) { return to_array(self.base); }, nb::rv_policy::move)
        .def("predict_raw", [](const Ensemble& self, nb::object data, std::size_t first,
                               std::size_t last, int) {
            Table table = table_of(data);
            if (table.columns.size() != self.features)
                throw InputError("the table has another number of columns than the model");
            double* out;
            auto result = new_array<double>({table.rows, self.outputs}, &out);
            std::vector<double> row(self.features);
            for (std::size_t i = 0; i < table.rows; ++i) {
                for (std::size_t f = 0; f < self.features; ++f)
                    row[f] = read_value(table.columns[f], i);
                for (std::size_t k = 0; k < self.outputs; ++k)
                    out[i * self.outputs + k] = first == 0 ? self.base[k] : 0;
                predict_row(self, row.data(), first, last, out + i * self.outputs);
            }
            return result;
        }, nb::arg("data"), nb::arg("first"), nb::arg("last"), nb::arg("threads") = 1);
}
