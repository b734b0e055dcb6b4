// A table prepared once for searching it every round.
//
// A quantitative column of many values is kept as its rows in order; whoever searches it adds up
// the rows' weights in that order. All other columns (of few values, in bins, nominal) are kept as
// bins, and whoever searches them adds up the weights by bin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/binned.hpp"
#include "data/binning.hpp"
#include "data/table.hpp"
#include "parallel/team.hpp"
#include "stump/order.hpp"
#include "stump/stump.hpp"

namespace bosquet {

struct OrderedColumn {
    std::uint32_t feature = 0;
    RowOrder order;
};

// Where a table was cut: the first `position` rows or bins in their order go left, or for a nominal
// column the bins named.
struct CutPlace {
    std::uint32_t feature = 0;
    std::uint32_t position = 0;
    bool missing_left = false;
    std::vector<std::uint32_t> left_bins;
};

class StumpTable {
  public:
    // Columns of more distinct values than this are sorted rather than put into bins of one value.
    static constexpr std::size_t kMostBins = 255;

    // Exact: every threshold between two values is there to be found. Values are read from the
    // table again when a threshold is asked for, so its columns must live as long as this.
    StumpTable(const Table& table, std::span<const std::uint32_t> categories, Isa isa, Team& team);
    // On bins.
    StumpTable(const Table& table, std::span<const FeatureBins> bins, Isa isa, Team& team);

    std::size_t rows() const { return source_.rows; }
    std::size_t features() const { return bins_.size(); }
    const std::vector<OrderedColumn>& ordered() const { return ordered_; }
    const OrderedColumn* ordered(std::uint32_t feature) const;
    const BinnedMatrix& binned() const { return binned_; }
    // Of a column kept in bins.
    const FeatureBins& bins(std::uint32_t feature) const { return bins_[feature]; }
    // Rows by bin of a column kept in bins; bin 0 has those whose value is missing.
    std::span<const std::uint32_t> counts(std::uint32_t feature) const { return counts_[feature]; }

    // The same in the column's own numbers, with how many rows go left.
    void describe(const CutPlace& place, Stump& stump) const;

    // The value at a place of a column's order.
    double value_at(const OrderedColumn& column, std::size_t place) const {
        return read_value(source_.columns[column.feature],
                          column.order.rows[place] & RowOrder::kRow);
    }

  private:
    void put_into_bins(Isa isa, Team& team);

    Table source_;
    std::vector<FeatureBins> bins_;  // by feature; of an ordered one empty, which keeps it out
    BinnedMatrix binned_;
    std::vector<std::vector<std::uint32_t>> counts_;
    std::vector<OrderedColumn> ordered_;
};

// Which side the rows of a prepared table are on.
class StumpSides {
  public:
    StumpSides(const StumpTable& table, const Stump& stump, Team& team);
    // right[i] = 1 where row range.begin + i is on the right, else 0.
    void fill(Range range, std::uint8_t* right) const;

  private:
    void place_ordered(const StumpTable& table, const OrderedColumn& column, const Stump& stump,
                       Team& team);

    const std::uint8_t* narrow_ = nullptr;
    const std::uint16_t* wide_ = nullptr;
    std::vector<std::uint8_t> right_of_bin_;
    Buffer<std::uint8_t> right_of_row_;
};

}  // namespace bosquet
