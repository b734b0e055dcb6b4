// What a tree is grown by, and on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bosquet {

enum class Criterion : std::uint8_t { squared, poisson, absolute, gini, entropy };

struct CartOptions {
    Criterion criterion = Criterion::gini;
    std::uint32_t min_samples_split = 2;
    std::uint32_t min_samples_leaf = 1;
    double min_weight_leaf = 0;
    std::uint32_t max_depth = 0;       // 0: no limit
    std::uint32_t max_leaf_nodes = 0;  // 0: no limit; else the best split comes first
    double min_impurity_decrease = 0;
    std::uint32_t features_per_node = 0;  // 0: all
    bool random_thresholds = false;       // one at random a feature, instead of the best
    std::vector<std::int8_t> monotone;    // one direction a feature, or empty
    std::uint32_t competitors = 0;        // runners-up to remember at each node
    std::uint32_t surrogates = 0;         // stand-ins for a missing value to find at each node
};

// A class or more, or a number or more, for each row. The classes of several targets are counted on
// from one to the next, so that each has a place among all: that of target t of row i stands at
// t * rows + i.
struct CartTarget {
    std::uint32_t outputs = 1;                    // classes in all, or numbers a row
    std::span<const std::uint32_t> classes;       // empty: numbers
    std::span<const std::uint32_t> class_counts;  // of several targets; empty: one
    std::span<const double> numbers;              // number k of row i at k * rows + i

    bool is_classes() const { return !classes.empty(); }
};

}  // namespace bosquet
