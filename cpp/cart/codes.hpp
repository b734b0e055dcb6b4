// A table of integer codes. Within a column, codes have the same order as the values, so that the
// search for a split does not have to compare values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "data/binning.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Code 0 is a missing value. A quantitative column has one code per distinct value (exact) or per
// bin (histogram). A categorical column has code 1 + c for category c. Up to 256 codes are stored
// in one byte each.
struct CodedColumn {
    bool categorical = false;
    std::uint32_t codes = 1;     // number of codes, including 0
    std::vector<double> values;  // exact: the values of codes 1, 2, ...
    std::vector<double> edges;   // histogram: the edges between codes 1 and 2, 2 and 3, ...
    Buffer<std::uint8_t> narrow;
    Buffer<std::uint32_t> wide;

    std::uint32_t categories() const { return categorical ? codes - 1 : 0; }
    bool is_narrow() const { return codes <= 256; }
    std::size_t bytes_per_row() const { return is_narrow() ? 1 : 4; }
    std::uint32_t code(std::size_t row) const { return is_narrow() ? narrow[row] : wide[row]; }
    // The threshold between the code `below` and the next code in the node, `above`: x <= threshold
    // goes left.
    double threshold(std::uint32_t below, std::uint32_t above) const;
    // The limits of a random threshold for a node whose smallest and largest codes are these.
    double lowest(std::uint32_t code) const;
    double highest(std::uint32_t code) const;
    // The largest code whose values are <= threshold.
    std::uint32_t last_below(double threshold) const;
};

struct CodedTable {
    std::size_t rows = 0;
    std::vector<CodedColumn> columns;

    CodedTable() = default;
    CodedTable(CodedTable&&) = default;
    CodedTable& operator=(CodedTable&&) = default;

    // One code per distinct value.
    static CodedTable exact(const Table& table, std::span<const std::uint32_t> categories,
                            Team& team);
    // One code per bin.
    static CodedTable binned(const Table& table, std::span<const FeatureBins> bins, Isa isa,
                             Team& team);
    // The same with rows that append() codes later, in temporary files of the folder unless it is
    // empty.
    static CodedTable of_bins(std::span<const FeatureBins> bins, std::size_t rows,
                              const std::string& folder = {});
    // Codes the rows of a batch by their bins. Its first row is row `first_row` of the table.
    void append(const Table& batch, std::span<const FeatureBins> bins, std::size_t first_row,
                Isa isa, Team& team);
};

}  // namespace bosquet
