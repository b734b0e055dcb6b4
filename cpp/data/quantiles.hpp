// The edges of the bins of a column: weighted quantiles of a sample of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Minimum average number of rows per bin, if there are fewer bins than distinct values. Finer bins
// would only separate noise, and make the search for splits slower.
constexpr int kRowsPerBin = 3;

// Edges e_1 < e_2 < ... of at most `max_bins` bins of about equal weight. A value x is in the first
// bin with x <= edge. A column with at most `max_bins` distinct values gets one bin per value, with
// edges halfway between neighbours. `values` contains no NaN and is sorted in place; `weights` has
// one entry per value or is empty.
std::vector<double> quantile_edges(std::vector<double>& values, std::vector<double>& weights,
                                   int max_bins);
std::vector<double> quantile_edges(std::vector<float>& values, std::vector<double>& weights,
                                   int max_bins);

// The rows from which the edges are computed: all rows if there are at most `limit`, otherwise each
// row whose hash is small enough. The choice of a row depends on its number only, so that any
// partition of the rows that keeps their numbers chooses the same rows.
std::vector<std::uint32_t> sample_rows(std::size_t rows, std::size_t limit, std::uint64_t seed);
// The same for the rows with numbers in `run` of `all_rows` rows; counted from the start of the
// run.
std::vector<std::uint32_t> sample_run(Range run, std::uint64_t all_rows, std::size_t limit,
                                      std::uint64_t seed);

}  // namespace bosquet
