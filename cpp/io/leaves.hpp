// The leaf values in a model file (docs/format.md): stored directly, or as indices into lists of
// the distinct numbers and the distinct vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/bytes.hpp"
#include "trees/tree.hpp"

namespace bosquet {

// Flags of the ensemble section.
constexpr std::uint64_t kVectorLeaves = 1;
constexpr std::uint64_t kListedNumbers = 2;
constexpr std::uint64_t kListedVectors = 4;

// A reference to a listed vector takes one byte in the file and eight bytes per output in memory.
// The limit on the outputs prevents a small file from allocating huge amounts of memory.
constexpr std::size_t kMaxListedOutputs = 32;

// Orders numbers, with -0 before +0, so that both keep their bits.
bool precedes(double a, double b);

// Sorts the numbers and removes duplicates.
void make_distinct(std::vector<double>& numbers);

class LeafWriter {
  public:
    // The ensemble must outlive the writer.
    explicit LeafWriter(const Ensemble& ensemble);

    std::uint64_t flags() const { return flags_; }
    void write_lists(ByteWriter& out) const;
    void write(const Tree& tree, const Node& leaf, ByteWriter& out) const;

  private:
    void list_vectors();
    void list_numbers();
    bool vector_precedes(const double* a, const double* b) const;
    void write_number(double number, ByteWriter& out) const;

    const Ensemble* ensemble_;
    std::uint64_t flags_;
    std::vector<double> numbers_;         // distinct and sorted; empty: no list
    std::vector<const double*> vectors_;  // the same for vectors
};

class LeafReader {
  public:
    LeafReader(std::uint64_t flags, std::size_t outputs);

    void read_lists(ByteReader& in);
    // The minimum size of a leaf's value in the file.
    std::size_t min_bytes() const;
    // Reserves memory for the vectors of a tree's leaves.
    void reserve(std::size_t leaves, Tree& tree) const;
    // Sets the value of the leaf, or appends the next vector to the tree.
    void read(ByteReader& in, Tree& tree, Node& leaf) const;

  private:
    double read_number(ByteReader& in) const;
    std::size_t min_number_bytes() const { return flags_ & kListedNumbers ? 1 : 8; }

    std::uint64_t flags_;
    std::size_t outputs_;
    std::vector<double> numbers_;
    std::vector<double> vectors_;  // concatenated
};

}  // namespace bosquet
