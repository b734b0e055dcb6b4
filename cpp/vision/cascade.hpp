// A cascade of boosted trees on Haar features. It is checked once, then compiled for a layout of
// integral images.
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
    std::int32_t left, right;  // positive: a node of the tree; otherwise minus the number of a leaf
};

struct CascadeModel {
    std::int32_t width = 0, height = 0;  // size of a window
    std::vector<CascadeFeature> features;
    std::vector<CascadeNode> nodes;         // of all trees, one after another, the root first
    std::vector<float> leaves;              // of all trees; a tree has one more leaf than nodes
    std::vector<std::uint32_t> tree_size;   // number of nodes of each tree
    std::vector<std::uint32_t> stage_size;  // number of trees of each stage
    std::vector<float> stage_threshold;

    bool has_tilted() const;

    // Throws InputError unless every box lies in the window, every number is finite and the nodes
    // form trees. Later code relies on this check.
    void check() const;
};

// The offsets of corners, relative to the first entry of a window.
//
// With step 2, only windows at even columns are evaluated, and a row of the integral image is
// stored as its even columns followed by its odd ones. The entries that neighbouring windows need
// are then contiguous, so that one load reads them for all windows.
struct ScanLayout {
    std::int32_t step;
    std::int32_t stride;  // entries per row
    std::int32_t plane;   // entries from the sums to the tilted sums, and from those to the squares

    std::int32_t half() const { return stride / 2; }
    std::int32_t offset(std::int32_t x, std::int32_t y) const {
        return y * stride + (step == 2 ? (x & 1) * half() + (x >> 1) : x);
    }
    std::int32_t squares(bool tilted) const { return tilted ? 2 * plane : plane; }
};

// The cascade with the offsets of its corners for one layout.
struct CompiledCascade {
    std::vector<ScanNode> nodes;
    std::vector<float> leaves;
    std::vector<ScanTree> trees;
    std::vector<ScanStage> stages;
    ScanCascade scan;  // points into the vectors above

    CompiledCascade(const CascadeModel& model, const ScanLayout& layout);
    CompiledCascade(const CompiledCascade&) = delete;
    CompiledCascade& operator=(const CompiledCascade&) = delete;
};

}  // namespace bosquet
