// The options and the target of a CART tree.
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
    std::uint32_t max_leaf_nodes = 0;  // 0: no limit; otherwise the best split comes first
    double min_impurity_decrease = 0;
    std::uint32_t features_per_node = 0;  // 0: all
    bool random_thresholds = false;       // one random threshold per feature instead of the best
    std::vector<std::int8_t> monotone;    // one direction per feature, or empty
    std::uint32_t competitors = 0;        // number of competing splits to keep per node
    std::uint32_t surrogates = 0;         // number of surrogate splits to find per node
};

// The target: one or more classes, or one or more numbers per row. With several targets, class
// numbers continue from one target to the next, so that each class of each target has its own
// number; target t of row i is at t * rows + i.
struct CartTarget {
    std::uint32_t outputs = 1;               // total number of classes, or numbers per row
    std::span<const std::uint32_t> classes;  // empty: the target is numeric
    std::span<const std::uint32_t>
        class_counts;  // classes per target if there are several targets; empty: one target
    std::span<const double> numbers;  // number k of row i at k * rows + i

    bool is_classes() const { return !classes.empty(); }
};

}  // namespace bosquet
