#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "explain/dependence.hpp"
#include "explain/shap.hpp"
#include "trees/tree.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Doubles = nb::ndarray<nb::numpy, double>;

nb::tuple explain_rows(const Ensemble& ensemble, nb::object data, nb::object background,
                       bool interactions, int threads, const std::string& isa) {
    HeldTable table = table_of(data), against;
    check_columns(ensemble, table.columns.size());
    ShapOptions options;
    if (!background.is_none()) {
        against = table_of(background);
        check_columns(ensemble, against.columns.size());
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
        LongCall call;
        shap_values(ensemble, table, options, out, base);
    }
    return nb::make_tuple(values, start);
}

void check_feature(const Ensemble& ensemble, std::uint32_t feature) {
    if (feature >= ensemble.features)
        throw InputError("there is no feature " + std::to_string(feature));
}

std::vector<Grid> grids_of(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                           std::vector<std::vector<double>> points) {
    if (features.size() != points.size()) throw InputError("a feature needs one grid");
    std::vector<Grid> grids;
    for (std::size_t i = 0; i < features.size(); ++i) {
        check_feature(ensemble, features[i]);
        for (const Grid& grid : grids)
            if (grid.feature == features[i]) throw InputError("a feature has two grids");
        if (ensemble.categories[features[i]] > 0)
            throw InputError("a grid is for a quantitative feature");
        bool ordered = std::is_sorted(points[i].begin(), points[i].end());
        bool numbers =
            std::none_of(points[i].begin(), points[i].end(), [](double x) { return x != x; });
        if (!ordered || !numbers || points[i].empty())
            throw InputError("the points of a grid must be numbers in ascending order");
        grids.push_back({features[i], std::move(points[i])});
    }
    return grids;
}

std::size_t points_of(const std::vector<Grid>& grids) {
    std::size_t total = 0;
    for (const Grid& grid : grids) total += grid.points.size();
    return total;
}

Doubles predict_on_grids(const Ensemble& ensemble, nb::object data,
                         const std::vector<std::uint32_t>& features,
                         std::vector<std::vector<double>> points, int threads) {
    HeldTable table = table_of(data);
    check_columns(ensemble, table.columns.size());
    std::vector<Grid> grids = grids_of(ensemble, features, std::move(points));
    double* out;
    Doubles result = new_array<double>({table.rows, points_of(grids), ensemble.outputs}, &out);
    LongCall call;
    conditional_predictions(ensemble, table, grids, threads, out);
    return result;
}

Doubles mean_on_grids(const Ensemble& ensemble, nb::object data,
                      const std::vector<std::uint32_t>& features,
                      std::vector<std::vector<double>> points, const DoubleArray& weights,
                      int threads) {
    HeldTable table = table_of(data);
    check_columns(ensemble, table.columns.size());
    check_length(weights.size(), table.rows, "weights");
    std::vector<Grid> grids = grids_of(ensemble, features, std::move(points));
    double* out;
    Doubles result = new_array<double>({points_of(grids), ensemble.outputs}, &out);
    LongCall call;
    mean_predictions(ensemble, table, grids, weights.data(), threads, out);
    return result;
}

Doubles predict_expected(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                         const DoubleMatrix& points) {
    for (std::uint32_t feature : features) check_feature(ensemble, feature);
    if (points.shape(1) != features.size())
        throw InputError("points must have one column a feature");
    double* out;
    Doubles result = new_array<double>({points.shape(0), ensemble.outputs}, &out);
    LongCall call;
    expected_predictions(ensemble, features, points.data(), points.shape(0), out);
    return result;
}

}  // namespace

void bind_explain(nb::module_& module) {
    module.def("shap_values", explain_rows, nb::arg("ensemble"), nb::arg("data"),
               nb::arg("background").none() = nb::none(), nb::arg("interactions") = false,
               nb::arg("threads") = 1, nb::arg("isa") = "auto",
               "Shapley values of the raw predictions, shape (rows, features, outputs), with "
               "interactions (rows, features, features, outputs), and the base (outputs,).");
    module.def(
        "conditional_predictions", predict_on_grids, nb::arg("ensemble"), nb::arg("data"),
        nb::arg("features"), nb::arg("grids"), nb::arg("threads") = 1,
        "Raw predictions (rows, points of all grids, outputs) with one feature at a point of "
        "its grid, which ascends, and the others as they are.");
    module.def("mean_predictions", mean_on_grids, nb::arg("ensemble"), nb::arg("data"),
               nb::arg("features"), nb::arg("grids"), nb::arg("weights"), nb::arg("threads") = 1,
               "Their weighted mean over rows, (points of all grids, outputs); weights sum to 1.");
    module.def(
        "expected_predictions", predict_expected, nb::arg("ensemble"), nb::arg("features"),
        nb::arg("points"),
        "Raw predictions (points, outputs) with some features at given values and the others "
        "averaged over by the covers of nodes.");
}
