// How a model file holds what leaves add (docs/format.md): number by number, or as places in lists
// of the distinct numbers and the distinct vectors.
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

// A listed vector takes a byte in the file and eight an output in memory. A bound on the outputs
// keeps a small file from asking for all the memory there is.
constexpr std::size_t kMaxListedOutputs = 32;

// Orders numbers, and -0 before +0, so that each keeps its bits.
bool before(double a, double b);

// Sorts, and leaves one of each.
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
    bool vector_before(const double* a, const double* b) const;
    void write_number(double number, ByteWriter& out) const;

    const Ensemble* ensemble_;
    std::uint64_t flags_;
    std::vector<double> numbers_;         // distinct, in order; empty: not listed
    std::vector<const double*> vectors_;  // likewise
};

class LeafReader {
  public:
    LeafReader(std::uint64_t flags, std::size_t outputs);

    void read_lists(ByteReader& in);
    // The least that a leaf's part takes in the file.
    std::size_t least_bytes() const;
    // Asks for the room that the vectors of a tree's leaves will take.
    void make_room(std::size_t leaves, Tree& tree) const;
    // Gives the leaf its value, or the next vector of the tree.
    void read(ByteReader& in, Tree& tree, Node& leaf) const;

  private:
    double read_number(ByteReader& in) const;
    std::size_t least_number_bytes() const { return flags_ & kListedNumbers ? 1 : 8; }

    std::uint64_t flags_;
    std::size_t outputs_;
    std::vector<double> numbers_;
    std::vector<double> vectors_;  // one behind the other
};

}  // namespace bosquet
