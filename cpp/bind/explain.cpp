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
                       bool interactions, int threads, const std::string& isa,
                       const std::vector<std::uint32_t>& players) {
    OwnedTable table = table_of(data), background_table;
    check_columns(ensemble, table.columns.size());
    ShapOptions options;
    if (!background.is_none()) {
        background_table = table_of(background);
        check_columns(ensemble, background_table.columns.size());
        if (background_table.rows == 0)
            throw InputError("background has no rows; at least one row is needed");
        options.background = &background_table;
    }
    options.interactions = interactions;
    options.threads = std::max(1, threads);
    options.isa = parse_isa(isa);
    std::size_t count = ensemble.features;
    if (!players.empty()) {
        check_length(players.size(), ensemble.features, "players", "feature");
        // No more players than features, so that the result is not larger than without them.
        for (std::uint32_t player : players) check_index(player, ensemble.features, "player");
        options.player_of = players;
        count = options.players =
            std::size_t{*std::max_element(players.begin(), players.end())} + 1;
    }
    std::vector<std::size_t> shape{table.rows, count};
    if (interactions) shape.push_back(count);
    shape.push_back(ensemble.outputs);
    double *out, *base;
    Doubles values = new_array<double>(shape, &out);
    Doubles bases = new_array<double>({ensemble.outputs}, &base);
    {
        LongCall call;
        shap_values(ensemble, table, options, out, base);
    }
    return nb::make_tuple(values, bases);
}

void check_feature(const Ensemble& ensemble, std::uint32_t feature) {
    if (feature >= ensemble.features)
        throw InputError("feature " + std::to_string(feature) + " is out of range; the model has " +
                         std::to_string(ensemble.features) + " features");
}

std::vector<Grid> grids_of(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                           std::vector<std::vector<double>> points) {
    check_length(points.size(), features.size(), "grids", "feature");
    std::vector<Grid> grids;
    for (std::size_t i = 0; i < features.size(); ++i) {
        check_feature(ensemble, features[i]);
        for (const Grid& grid : grids)
            if (grid.feature == features[i])
                throw InputError("feature " + std::to_string(features[i]) +
                                 " occurs twice in features; pass one grid per feature");
        if (ensemble.categories[features[i]] > 0)
            throw InputError("feature " + std::to_string(features[i]) +
                             " is categorical; grids need quantitative features");
        bool ordered = std::is_sorted(points[i].begin(), points[i].end());
        bool numbers =
            std::none_of(points[i].begin(), points[i].end(), [](double x) { return x != x; });
        if (!ordered || !numbers || points[i].empty())
            throw InputError(
                "the grid of feature " + std::to_string(features[i]) +
                " is empty, not ascending or contains NaN; pass numbers in ascending order");
        grids.push_back({features[i], std::move(points[i])});
    }
    return grids;
}

std::size_t count_points(const std::vector<Grid>& grids) {
    std::size_t total = 0;
    for (const Grid& grid : grids) total += grid.points.size();
    return total;
}

Doubles predict_on_grids(const Ensemble& ensemble, nb::object data,
                         const std::vector<std::uint32_t>& features,
                         std::vector<std::vector<double>> points, int threads) {
    OwnedTable table = table_of(data);
    check_columns(ensemble, table.columns.size());
    std::vector<Grid> grids = grids_of(ensemble, features, std::move(points));
    double* out;
    Doubles result = new_array<double>({table.rows, count_points(grids), ensemble.outputs}, &out);
    LongCall call;
    conditional_predictions(ensemble, table, grids, threads, out);
    return result;
}

Doubles mean_on_grids(const Ensemble& ensemble, nb::object data,
                      const std::vector<std::uint32_t>& features,
                      std::vector<std::vector<double>> points, const DoubleArray& weights,
                      int threads) {
    OwnedTable table = table_of(data);
    check_columns(ensemble, table.columns.size());
    check_length(weights.size(), table.rows, "weights");
    std::vector<Grid> grids = grids_of(ensemble, features, std::move(points));
    double* out;
    Doubles result = new_array<double>({count_points(grids), ensemble.outputs}, &out);
    LongCall call;
    mean_predictions(ensemble, table, grids, weights.data(), threads, out);
    return result;
}

Doubles predict_expected(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                         const DoubleMatrix& points) {
    for (std::uint32_t feature : features) check_feature(ensemble, feature);
    if (points.shape(1) != features.size())
        throw InputError("points has " + std::to_string(points.shape(1)) +
                         " columns, but there are " + std::to_string(features.size()) +
                         " features; pass one column per feature");
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
               nb::arg("players") = std::vector<std::uint32_t>{},
               "Return the Shapley values of the raw predictions, shape (n_rows, n_players, "
               "n_outputs) or with interactions (n_rows, n_players, n_players, n_outputs), and "
               "the base values, shape (n_outputs,). `players` holds the player of each feature; "
               "features of one player are known or unknown together. Without it every feature is "
               "a player.");
    module.def("conditional_predictions", predict_on_grids, nb::arg("ensemble"), nb::arg("data"),
               nb::arg("features"), nb::arg("grids"), nb::arg("threads") = 1,
               "Return raw predictions of shape (n_rows, n_points, n_outputs), where n_points "
               "counts the points of all grids. One feature is set to a point of its grid, the "
               "others keep their values.");
    module.def("mean_predictions", mean_on_grids, nb::arg("ensemble"), nb::arg("data"),
               nb::arg("features"), nb::arg("grids"), nb::arg("weights"), nb::arg("threads") = 1,
               "Return the weighted means over rows of conditional_predictions, shape (n_points, "
               "n_outputs). The weights must sum to 1.");
    module.def("expected_predictions", predict_expected, nb::arg("ensemble"), nb::arg("features"),
               nb::arg("points"),
               "Return raw predictions of shape (n_points, n_outputs) with some features at given "
               "values. The other features are averaged out with the covers of the nodes.");
}
