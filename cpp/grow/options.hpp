// What a grower is told: the shape of the trees, and what a split must satisfy.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace bosquet {

enum class Growth { best_first, depth_wise };

struct GrowOptions {
    Growth growth = Growth::best_first;
    std::uint32_t max_leaf_nodes = 31;
    std::uint32_t max_depth = 0;  // 0: no limit
    std::uint32_t min_samples_leaf = 20;
    double min_child_weight = 1e-3;
    double l2 = 0;
    double min_split_gain = 0;
    double max_delta_step = 0;  // 0: no limit

    // Categories are ordered by G / (H + smoothing) before the scan, and a categorical split pays
    // an l2 of its own on top: a subset of levels chosen to fit is easier to find by chance than a
    // threshold.
    double category_smoothing = 10;
    double category_l2 = 10;
    std::uint32_t max_category_threshold = 32;  // levels on the smaller side
    std::uint32_t min_samples_category = 30;    // rows a level needs to be sorted in by itself

    double features_by_tree = 1;
    double features_by_level = 1;
    double features_by_node = 1;

    std::vector<std::int8_t> monotone;                     // -1, 0, +1 a feature; empty: none
    std::vector<std::vector<std::uint32_t>> interactions;  // features that may meet; empty: all
};

// Bounds that monotone constraints put on the value of a node.
struct ValueBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

}  // namespace bosquet
