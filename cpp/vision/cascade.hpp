// A cascade of boosted trees on Haar features, as it comes in: checked once, then laid out for the
// integral images that it is to run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vision/detect_kernels.hpp"

namespace bosquet {

struct Box {
    std::int32_t x, y, width, height;
};

constexpr std::size_t kBoxes = 3;

struct CascadeFeature {
    Box box[kBoxes];
    float weight[kBoxes];  // 0: the box is not used
    bool tilted;
};

struct CascadeNode {
    std::uint32_t feature;
    float threshold;
    std::int32_t left, right;  // positive: a node of the tree; otherwise minus a leaf
};

struct CascadeModel {
    std::int32_t width = 0, height = 0;  // of a window
    std::vector<CascadeFeature> features;
    std::vector<CascadeNode> nodes;        // of all trees, one after the other, the root first
    std::vector<float> leaves;             // of all trees; a tree has one more than nodes
    std::vector<std::uint32_t> tree_size;  // nodes of each tree
    std::vector<std::uint32_t> stage_size;  // trees of each stage
    std::vector<float> stage_threshold;

    bool has_tilted() const;

    // An InputError unless every box lies in the window, every number is finite and every tree is
    // one: nothing behind this check looks again.
    void check() const;
};

// Where the entry for a corner lies, counted from the first entry of a window.
//
// With step 2 only windows at even columns are looked at, and a row of the integral image is stored
// as its even columns followed by its odd ones: what neighbouring windows need then lies side by
// side, and one load fetches it for all of them.
struct ScanLayout {
    std::int32_t step;
    std::int32_t stride;  // entries of a row
    std::int32_t plane;   // entries from the sums to the tilted sums, and from those to the squares

    std::int32_t half() const { return stride / 2; }
    std::int32_t place(std::int32_t x, std::int32_t y) const {
        return y * stride + (step == 2 ? (x & 1) * half() + (x >> 1) : x);
    }
    std::int32_t squares(bool tilted) const { return tilted ? 2 * plane : plane; }
};

// The cascade with its corners at places of one layout.
struct PlacedCascade {
    std::vector<ScanNode> nodes;
    std::vector<float> leaves;
    std::vector<ScanTree> trees;
    std::vector<ScanStage> stages;
    ScanCascade scan;  // points into the above

    PlacedCascade(const CascadeModel& model, const ScanLayout& layout);
    PlacedCascade(const PlacedCascade&) = delete;
    PlacedCascade& operator=(const PlacedCascade&) = delete;
};

}  // namespace bosquet
