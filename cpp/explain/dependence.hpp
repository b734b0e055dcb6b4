// How a prediction depends on some features when the others stay as they are, or are averaged over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "trees/tree.hpp"

namespace bosquet {

// A quantitative feature, and the values to give it, ascending.
struct Grid {
    std::uint32_t feature = 0;
    std::vector<double> points;
};

// out[row][point of grid 0, then of grid 1, ...][output]: the raw prediction of the row with one
// feature at that point and the others as they are.
//
// A row walks down a tree once for all grids: at each split on a feature of a grid it also goes the
// way it does not take, with the part of the grid that would. What it finds there holds for an
// interval of the grid, so that a leaf is two additions, however many points there are.
void conditional_predictions(const Ensemble& ensemble, const Table& table,
                             const std::vector<Grid>& grids, int threads, double* out);

// out[point][output]: the mean of the same over rows, by their weights, which sum to 1. Nothing is
// kept of single rows, so that all stays in the first-level cache.
void mean_predictions(const Ensemble& ensemble, const Table& table, const std::vector<Grid>& grids,
                      const double* weights, int threads, double* out);

// out[point][output]: the raw prediction with the features at points[point][feature] and the others
// averaged over by the shares of training rows below each split.
void expected_predictions(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                          const double* points, std::size_t count, double* out);

}  // namespace bosquet
