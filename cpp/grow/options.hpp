// The options of a grower: the shape of the trees and the constraints on splits.
#pragma once

#include <cstdint>
#include <vector>

namespace bosquet {

enum class Growth { best_first, depth_wise };

// The leaf of a row is stored in two bytes.
constexpr std::uint32_t kMaxLeaves = 65'535;

struct GrowOptions {
    Growth growth = Growth::best_first;
    std::uint32_t max_leaf_nodes = 31;
    std::uint32_t max_depth = 0;  // 0: no limit
    std::uint32_t min_samples_leaf = 20;
    double min_child_weight = 1e-3;
    double l2 = 0;
    double min_split_gain = 0;
    double max_delta_step = 0;  // 0: no limit

    // Categories are ordered by G / (H + smoothing) before the scan. A categorical split has an
    // additional l2 penalty, because a good subset of levels is more easily found by chance than a
    // good threshold.
    double category_smoothing = 10;
    double category_l2 = 10;
    std::uint32_t max_category_threshold = 32;  // maximum number of levels on the smaller side
    // Minimum number of rows of a level to be sorted on its own.
    std::uint32_t min_samples_category = 30;

    // Standard deviation of the noise that is added to the scores by which the features of a node
    // are compared, in units of the root of twice the gain that a random split has on average.
    double split_noise = 0;

    double features_by_tree = 1;
    double features_by_level = 1;
    double features_by_node = 1;

    std::vector<std::int8_t> monotone;  // -1, 0 or +1 per feature; empty: no constraints
    std::vector<std::vector<std::uint32_t>>
        interactions;  // groups of features that may interact; empty: all
};

}  // namespace bosquet
