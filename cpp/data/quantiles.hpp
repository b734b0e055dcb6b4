// Where a column is cut into bins: weighted quantiles of a sample of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"

namespace bosquet {

// Rows a bin holds at the least, on average, where values must share bins: finer bins would tell
// noise from noise, at the cost of looking at each.
constexpr int kRowsPerBin = 3;

// Edges e_1 < e_2 < ... of at most `max_bins` bins of about equal weight: a value x lies in the
// first bin whose edge is not below it. A column with no more than `max_bins` distinct values gets
// one bin a value, with edges halfway between neighbours. `values` has no NaN and is sorted in
// place; `weights` belongs to it row by row, or is empty.
std::vector<double> quantile_edges(std::vector<double>& values, std::vector<double>& weights,
                                   int max_bins);
std::vector<double> quantile_edges(std::vector<float>& values, std::vector<double>& weights,
                                   int max_bins);

// The rows the edges are taken from: all of them up to `limit`, beyond that each row whose hash is
// small enough. A row is chosen by its own number alone, so any partition of the rows that keeps
// their numbers chooses the same ones.
std::vector<std::uint32_t> sample_rows(std::size_t rows, std::size_t limit, std::uint64_t seed);

}  // namespace bosquet
