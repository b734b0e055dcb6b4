// An ensemble compiled for fast prediction of many rows: columns are converted to byte codes once
// for many trees, and trees become operations on lines of bytes (trees/kernels.hpp).
//
// The sorted thresholds that a group of consecutive trees uses for a feature divide it into at most
// 255 intervals. These trees only need the number of the interval of a value. A group ends where a
// feature would get more intervals.
//
// A tree with vector leaves, or with more leaves than a byte can number, is walked node by node,
// but on the codes and with nodes of half the size, because the cost of walking a deep tree is
// cache misses. Its top, the splits that most rows pass, is evaluated like a small tree, and the
// walk begins below it.
//
// A tree that does not fit at all (too many thresholds or classes of categories, or both large and
// categorical) is walked on the original values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "trees/kernels.hpp"
#include "trees/tree.hpp"
#include "trees/walk.hpp"

namespace bosquet {

constexpr std::uint32_t kNoLine = 0xffffffff;

// A feature that a group of trees reads. A quantitative feature has a line for the splits that send
// missing values left, one for those that send them right, or both. A categorical feature has a
// line of codes or, with more than 255 levels, a column of two-byte codes.
struct CodedFeature {
    std::uint32_t feature = 0;
    std::uint32_t missing_left_line = kNoLine;
    std::uint32_t missing_right_line = kNoLine;
    std::uint32_t codes_line = kNoLine;
    std::uint32_t wide_column = kNoLine;
    std::unique_ptr<FeatureBins>
        bins;  // on the heap, because the binner refers to it when this object moves
    std::unique_ptr<ColumnBinner> binner;
};

// The levels of a feature with more than 255 levels, grouped into the classes that one tree
// distinguishes.
struct CategoryClasses {
    std::uint32_t wide_column = 0;
    std::uint32_t line = 0;              // offset of the line for the classes of 128 rows
    std::vector<std::uint8_t> class_of;  // by code; larger codes have the class of the last
};

enum class TreeForm : std::uint8_t {
    lines,   // operations on lines of bytes
    coded,   // nodes walked on codes
    walked,  // the original tree, walked on values
};

struct CompiledTree {
    TreeForm form = TreeForm::lines;
    std::vector<CodedNode> nodes;      // only for TreeForm::coded
    std::vector<std::uint32_t> roots;  // only for TreeForm::coded: the nodes at which its top ends
    std::vector<LeafPairSplit> leaf_pairs;
    std::vector<ByteSplit> splits;
    std::vector<CategoryTest> tests;
    std::vector<CategoryClasses> classes;
    std::vector<double> leaf_values;

    ByteTree view() const {
        return {leaf_pairs.data(),
                splits.data(),
                tests.data(),
                leaf_values.data(),
                static_cast<std::uint32_t>(leaf_pairs.size()),
                static_cast<std::uint32_t>(splits.size()),
                static_cast<std::uint32_t>(tests.size())};
    }
};

struct TreeGroup {
    std::size_t first = 0;  // index of its first tree in the ensemble
    std::vector<CompiledTree> trees;
    std::vector<CodedFeature> features;
    std::uint32_t wide_columns = 0;
    // Lines per 128 rows: codes of features, then temporary lines of a tree.
    std::uint32_t lines = 0;

    std::size_t last() const { return first + trees.size(); }
};

class CompiledEnsemble {
  public:
    CompiledEnsemble(const Ensemble& ensemble, std::size_t first, std::size_t last);

    std::size_t first() const { return first_; }
    std::size_t last() const { return last_; }
    const std::vector<TreeGroup>& groups() const { return groups_; }

  private:
    std::size_t first_, last_;
    std::vector<TreeGroup> groups_;
};

}  // namespace bosquet
