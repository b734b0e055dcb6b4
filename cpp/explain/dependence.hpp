// Predictions with some features set to given values while the others keep their values or are
// averaged out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

// A quantitative feature and the values to set it to, ascending.
struct Grid {
    std::uint32_t feature = 0;
    std::vector<double> points;
};

// out[row][point of grid 0, then of grid 1, ...][output]: the raw prediction of the row with one
// feature set to that point and the others unchanged.
//
// A row walks down a tree once for all grids. At each split on a feature of a grid, it also follows
// the other child with those grid points that go there. A leaf reached that way holds for an
// interval of the grid, so that it costs two additions for any number of points.
void conditional_predictions(const Ensemble& ensemble, const Table& table,
                             const std::vector<Grid>& grids, int threads, double* out);

// out[point][output]: the weighted mean of the same over rows; the weights sum to 1. Nothing is
// stored per row, so that all data stays in the first-level cache.
void mean_predictions(const Ensemble& ensemble, const Table& table, const std::vector<Grid>& grids,
                      const double* weights, int threads, double* out);

// out[point][output]: the raw prediction with the features set to points[point][feature] and the
// others averaged out with the shares of training rows below each split.
void expected_predictions(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                          const double* points, std::size_t count, double* out);

}  // namespace bosquet
