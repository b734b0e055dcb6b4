// A table that is prepared once and searched in every round.
//
// Every column is binned, and a search sums the weights of the rows per bin. A quantitative column
// with more values than bins is also sorted: a bin that may contain the best split is then searched
// row by row, in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/binned.hpp"
#include "data/binning.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"
#include "stump/kernels.hpp"
#include "stump/order.hpp"
#include "stump/stump.hpp"

namespace bosquet {

struct OrderedColumn {
    std::uint32_t feature = 0;
    RowOrder order;
    std::vector<std::uint32_t> starts;  // index of the first row of bins 1, 2, ...; then the end

    std::size_t missing() const { return order.rows.size() - order.present; }
};

// The position of a split: the first `position` rows (of an ordered column) or bins go left; for a
// categorical column the bins in left_bins.
struct SplitPosition {
    std::uint32_t feature = 0;
    std::uint32_t position = 0;
    bool missing_left = false;
    std::vector<std::uint32_t> left_bins;
};

class StumpTable {
  public:
    // Exact: considers every threshold between two values. Thresholds are computed from the values
    // of the table when needed, so that its columns must outlive this object.
    StumpTable(const Table& table, std::span<const std::uint32_t> categories, Isa isa, Team& team);
    // Considers only the edges of the bins.
    StumpTable(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team);

    std::size_t rows() const { return source_.rows; }
    std::size_t features() const { return bins_.size(); }
    const BinnedMatrix& binned() const { return binned_; }
    const FeatureBins& bins(std::uint32_t feature) const { return bins_[feature]; }
    bool has_missing(std::uint32_t feature) const { return has_missing_[feature] != 0; }
    const std::vector<OrderedColumn>& ordered() const { return ordered_; }
    // nullptr unless the column has more values than bins.
    const OrderedColumn* ordered(std::uint32_t feature) const;

    // Sets the stump to the split, with its threshold or categories and the number of rows on the
    // left. Not safe for concurrent calls.
    void describe(const SplitPosition& split, Stump& stump) const;

    // The value at a position in a column's order.
    double value_at(const OrderedColumn& column, std::size_t index) const {
        return read_value(source_.columns[column.feature],
                          column.order.rows[index] & RowOrder::kRow);
    }

  private:
    void bin_columns(Isa isa, Team& team);
    // The number of rows per bin, counted on first use; bin 0 holds missing values.
    const std::vector<std::uint32_t>& counts(std::uint32_t feature) const;

    Table source_;
    std::vector<FeatureBins> bins_;
    BinnedMatrix binned_;
    std::vector<std::uint8_t> has_missing_;
    mutable std::vector<std::vector<std::uint32_t>> counts_;
    std::vector<OrderedColumn> ordered_;
};

// The sides of the rows of a prepared table.
class StumpSides {
  public:
    StumpSides(const StumpTable& table, const Stump& stump, Isa isa);
    // right[i] = 1 if row range.begin + i is on the right, else 0.
    void fill(Range range, std::uint8_t* right) const;

  private:
    void divide_bin(const StumpTable& table, const OrderedColumn& column, double threshold);

    const StumpKernels& kernels_;
    const std::uint8_t* bins_ = nullptr;  // quantitative column: bins up to last_ go left
    const std::uint8_t* levels_ = nullptr;
    const std::uint16_t* wide_ = nullptr;
    std::uint8_t last_ = 0;
    bool missing_left_ = false;
    std::vector<std::uint32_t> right_rows_;   // rows of bin last_ that go right, ascending
    std::vector<std::uint8_t> right_of_bin_;  // categorical column: 1 if the bin goes right
};

}  // namespace bosquet
