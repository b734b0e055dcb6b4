// An ensemble in the form that predicts many rows fast: columns become byte codes once for many
// trees, trees become operations on lines of bytes (trees/kernels.hpp).
//
// The thresholds that a group of consecutive trees uses on a feature, sorted, cut it into at most
// 255 intervals; the number of its interval is all that these trees need to know of a value. A
// group ends where a feature would get more.
//
// A tree of more leaves than a byte can number, or of vector leaves, is walked all the same, but on
// the codes, down nodes of half the size: what it costs to walk a deep tree is the cache misses.
// Its crown, the splits that most rows meet, is worked off as a small tree is, and the walk begins
// below it. A
// tree that does not fit at all (too many thresholds or kinds of categories, or both large and
// categorical) is walked on the values as they are.
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

// A feature that a group of trees reads. A quantitative one has a line for the splits that send
// missing values left, one for those that send them right, or both. A categorical one has a line of
// plain codes, or, with more than 255 levels, a column of two-byte codes.
struct CodedFeature {
    std::uint32_t feature = 0;
    std::uint32_t missing_left = kNoLine;
    std::uint32_t missing_right = kNoLine;
    std::uint32_t codes = kNoLine;
    std::uint32_t wide_column = kNoLine;
    std::unique_ptr<FeatureBins>
        bins;  // where it stays when this object moves: the binner refers to it
    std::unique_ptr<ColumnBinner> binner;
};

// The levels of a feature with more than 255, folded into the classes that one tree tells apart.
struct CategoryClasses {
    std::uint32_t wide_column = 0;
    std::uint32_t line = 0;              // where to write the classes of 128 rows
    std::vector<std::uint8_t> class_of;  // by code; codes behind the last are as the last
};

enum class TreeForm : std::uint8_t {
    lines,   // operations on lines of bytes
    coded,   // nodes that are walked on codes
    walked,  // the tree itself, on values
};

struct CompiledTree {
    TreeForm form = TreeForm::lines;
    std::vector<CodedNode> nodes;      // of the coded form
    std::vector<std::uint32_t> roots;  // of the coded form: the nodes that its crown leads to
    std::vector<TwinSplit> twins;
    std::vector<ByteSplit> splits;
    std::vector<CategoryTest> tests;
    std::vector<CategoryClasses> classes;
    std::vector<double> leaf_values;

    ByteTree view() const {
        return {twins.data(),
                splits.data(),
                tests.data(),
                leaf_values.data(),
                static_cast<std::uint32_t>(twins.size()),
                static_cast<std::uint32_t>(splits.size()),
                static_cast<std::uint32_t>(tests.size())};
    }
};

struct TreeGroup {
    std::size_t first = 0;  // number of its first tree in the ensemble
    std::vector<CompiledTree> trees;
    std::vector<CodedFeature> features;
    std::uint32_t wide_columns = 0;
    std::uint32_t lines =
        0;  // for each 128 rows: codes of features, then what a tree writes for itself

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
