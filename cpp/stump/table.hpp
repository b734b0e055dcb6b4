// A table prepared once for searching it every round.
//
// Every column is put into bins, and whoever searches it adds up the rows' weights by bin. A
// quantitative column of more values than there are bins is sorted as well: a bin that may hold the
// best split is then searched row by row, in order.
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
    std::vector<std::uint32_t> starts;  // place of the first row of bin 1, 2, ...; then the end

    std::size_t missing() const { return order.rows.size() - order.present; }
};

// Where a table was cut: the first `position` rows (of an ordered column) or bins go left, or for a
// nominal column the bins named.
struct CutPlace {
    std::uint32_t feature = 0;
    std::uint32_t position = 0;
    bool missing_left = false;
    std::vector<std::uint32_t> left_bins;
};

class StumpTable {
  public:
    // Exact: every threshold between two values is there to be found. Values are read from the
    // table again when a threshold is asked for, so its columns must live as long as this.
    StumpTable(const Table& table, std::span<const std::uint32_t> categories, Isa isa, Team& team);
    // On bins.
    StumpTable(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team);

    std::size_t rows() const { return source_.rows; }
    std::size_t features() const { return bins_.size(); }
    const BinnedMatrix& binned() const { return binned_; }
    const FeatureBins& bins(std::uint32_t feature) const { return bins_[feature]; }
    bool has_missing(std::uint32_t feature) const { return has_missing_[feature] != 0; }
    const std::vector<OrderedColumn>& ordered() const { return ordered_; }
    // Null unless the column has more values than bins.
    const OrderedColumn* ordered(std::uint32_t feature) const;

    // A cut in the column's own numbers, with how many rows go left. Not for several threads at
    // once.
    void describe(const CutPlace& place, Stump& stump) const;

    // The value at a place of a column's order.
    double value_at(const OrderedColumn& column, std::size_t place) const {
        return read_value(source_.columns[column.feature],
                          column.order.rows[place] & RowOrder::kRow);
    }

  private:
    void put_into_bins(Isa isa, Team& team);
    // Rows by bin, counted when they are first asked for; bin 0 has those whose value is missing.
    const std::vector<std::uint32_t>& counts(std::uint32_t feature) const;

    Table source_;
    std::vector<FeatureBins> bins_;
    BinnedMatrix binned_;
    std::vector<std::uint8_t> has_missing_;
    mutable std::vector<std::vector<std::uint32_t>> counts_;
    std::vector<OrderedColumn> ordered_;
};

// Which side the rows of a prepared table are on.
class StumpSides {
  public:
    StumpSides(const StumpTable& table, const Stump& stump, Isa isa);
    // right[i] = 1 where row range.begin + i is on the right, else 0.
    void fill(Range range, std::uint8_t* right) const;

  private:
    void place_in_order(const StumpTable& table, const OrderedColumn& column, double threshold);

    const StumpKernels& kernels_;
    const std::uint8_t* bins_ = nullptr;  // of a quantitative column; those up to last_ go left
    const std::uint8_t* levels_ = nullptr;
    const std::uint16_t* wide_ = nullptr;
    std::uint8_t last_ = 0;
    bool missing_left_ = false;
    std::vector<std::uint32_t> beyond_;       // rows of bin last_ that go right, ascending
    std::vector<std::uint8_t> right_of_bin_;  // of a nominal column
};

}  // namespace bosquet
