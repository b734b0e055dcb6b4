// A table as codes: within a column they stand in the order of its values, so that whoever looks
// for a split need not touch a number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "data/binning.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Code 0 is a missing value. A quantitative column has one code a distinct value (exact) or a bin
// (histogram); a nominal one has code 1 + c for its category c. Up to 256 codes take one byte.
struct CodedColumn {
    bool nominal = false;
    std::uint32_t codes = 1;     // how many there are, 0 included
    std::vector<double> values;  // exact: of code 1, 2, ...
    std::vector<double> edges;   // histogram: between codes 1 and 2, 2 and 3, ...
    Buffer<std::uint8_t> narrow;
    Buffer<std::uint32_t> wide;

    std::uint32_t categories() const { return nominal ? codes - 1 : 0; }
    bool is_narrow() const { return codes <= 256; }
    std::uint32_t code(std::size_t row) const { return is_narrow() ? narrow[row] : wide[row]; }
    // The threshold that has `below` on its left and `above`, the next code in the node, on its
    // right: x <= threshold goes left.
    double threshold(std::uint32_t below, std::uint32_t above) const;
    // Two numbers between which a random threshold may fall for a node with these codes at its
    // ends.
    double lowest(std::uint32_t code) const;
    double highest(std::uint32_t code) const;
    // The last code that is not above the threshold.
    std::uint32_t last_below(double threshold) const;
};

struct CodedTable {
    std::size_t rows = 0;
    std::vector<CodedColumn> columns;

    CodedTable() = default;
    CodedTable(CodedTable&&) = default;
    CodedTable& operator=(CodedTable&&) = default;

    // One code a distinct value.
    static CodedTable exact(const Table& table, std::span<const std::uint32_t> categories,
                            Team& team);
    // One code a bin.
    static CodedTable binned(const Table& table, std::span<const FeatureBins> bins, Isa isa,
                             Team& team);
};

}  // namespace bosquet
