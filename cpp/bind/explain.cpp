#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "explain/shap.hpp"
#include "tree/tree.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Doubles = nb::ndarray<nb::numpy, double>;

void check_columns(const Ensemble& ensemble, const Table& table) {
    if (table.columns.size() != ensemble.features)
        throw InputError("the model has " + std::to_string(ensemble.features) +
                         " features, the data has " + std::to_string(table.columns.size()));
}

nb::tuple explain_rows(const Ensemble& ensemble, nb::object data, nb::object background,
                       bool interactions, int threads, const std::string& isa) {
    Table table = table_of(data), against;
    check_columns(ensemble, table);
    ShapOptions options;
    if (!background.is_none()) {
        against = table_of(background);
        check_columns(ensemble, against);
        if (against.rows == 0) throw InputError("the background has no rows");
        options.background = &against;
    }
    options.interactions = interactions;
    options.threads = std::max(1, threads);
    options.isa = parse_isa(isa);
    std::vector<std::size_t> shape{table.rows, ensemble.features};
    if (interactions) shape.push_back(ensemble.features);
    shape.push_back(ensemble.outputs);
    double *out, *base;
    Doubles values = new_array<double>(shape, &out);
    Doubles start = new_array<double>({ensemble.outputs}, &base);
    {
        nb::gil_scoped_release release;
        shap_values(ensemble, table, options, out, base);
    }
    return nb::make_tuple(values, start);
}

}  // namespace

void bind_explain(nb::module_& module) {
    module.def("shap_values", explain_rows, nb::arg("ensemble"), nb::arg("data"),
               nb::arg("background").none() = nb::none(), nb::arg("interactions") = false,
               nb::arg("threads") = 1, nb::arg("isa") = "auto",
               "Shapley values of the raw predictions, shape (rows, features, outputs), with "
               "interactions (rows, features, features, outputs), and the base (outputs,).");
}
