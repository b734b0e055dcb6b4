// Statistics of the target by level: quantitative columns derived from categorical ones.
//
// A group is one or several categorical columns whose combinations of levels are treated as the
// levels of one column. In training, the rows are divided into random folds, and the statistic of a
// row is the mean target of the rows of its level in the other folds, so that it does not contain
// the row's own target. In prediction it is the mean over all training rows of the level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// The columns of a group and the number of levels of each. The key of a row identifies its
// combination of levels: a number whose digits, the first column first, are 0 for a missing value
// and 1 + code for a level.
struct LevelGroup {
    std::vector<std::uint32_t> columns;
    std::vector<std::uint32_t> levels;

    // The number of possible keys; 0 if keys do not fit 63 bits.
    std::uint64_t keys() const;
};

// The key of a row with a level that did not occur in training: a code that is neither -1 or NaN
// (missing) nor that of a level.
constexpr std::uint64_t kUnknownKey = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kUnknownLevel = std::numeric_limits<std::uint32_t>::max();

// The keys of rows [begin, begin + count).
void read_keys(const Table& table, const LevelGroup& group, std::size_t begin, std::size_t count,
               std::uint64_t* keys);

// The keys that occur, ascending; the number of a key is its position.
//
// A hash table would be a little faster, but a hostile file could fill it with keys that collide.
// The leading bits of a key select a range of keys, usually of a few, and a binary search finds it.
class LevelIndex {
  public:
    explicit LevelIndex(std::vector<std::uint64_t> keys);

    std::uint32_t find(std::uint64_t key) const;  // kUnknownLevel if there is no such key
    const std::vector<std::uint64_t>& keys() const { return keys_; }

  private:
    std::vector<std::uint64_t> keys_;
    int shift_ = 0;                     // the leading bits of a key are key >> shift_
    std::vector<std::uint32_t> begin_;  // the first key of each range, and the end of the last
};

// Numbers the combinations of levels that occur in a table; writes the number of each row.
LevelIndex number_levels(const Table& table, const LevelGroup& group, std::uint32_t* numbers);

// The rows of each fold, ascending: the fold of a row is a hash of (seed, version, row).
std::vector<std::vector<std::uint32_t>> random_folds(std::size_t rows, std::size_t folds,
                                                     std::uint64_t seed, std::uint64_t version);

// The level numbers of the rows of a group.
struct NumberedRows {
    std::span<const std::uint32_t> numbers;
    std::size_t levels;
};

// Targets of shape (targets, rows), the weight of each row (empty: 1), and the prior mean of each
// target, which counts as much as rows of weight `strength`.
struct StatisticsTarget {
    std::size_t rows;
    std::span<const double> values;
    std::span<const double> weight;
    std::span<const double> prior;
    double strength;

    std::size_t targets() const { return prior.size(); }
};

using Folds = std::span<const std::vector<std::uint32_t>>;

// out[k * rows + i] = (sum + strength · prior) / (weight + strength) of target k over the rows of
// the same level in other folds than row i; after the targets, the weight of these rows.
void held_out_means(const NumberedRows& group, const StatisticsTarget& target, Folds folds,
                    float* out);

// How well these means predict the target: with m = mean - prior and r = y - prior, the decrease of
// the squared error by the best multiple of m, (Σ w r m)² / Σ w m², divided by the variance of r
// and summed over targets. For a group without any relation to a target it is about the square of a
// standard normal number, however many levels the group has, since the means do not contain the
// row.
double held_out_gain(const NumberedRows& group, const StatisticsTarget& target, Folds folds);

// The derived columns of new rows: for each group `width` values by level.
class TargetTables {
  public:
    struct Part {
        LevelGroup group;
        LevelIndex index;
        std::size_t width;
        std::vector<float> values;   // value v of level n is at n * width + v
        std::vector<float> unknown;  // values of combinations that did not occur in training
    };

    explicit TargetTables(std::vector<Part> parts) : parts_(std::move(parts)) {}

    std::size_t columns() const;
    // The number of columns that the groups refer to.
    std::size_t sources() const;
    // Writes column c of row i to out[c * rows + i].
    void derive(const Table& table, Team& team, float* out) const;

  private:
    std::vector<Part> parts_;
};

}  // namespace bosquet
