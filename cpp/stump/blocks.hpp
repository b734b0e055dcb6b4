// Finds the best stump of features that are given block by block and not kept in memory.
//
// Sorting every feature would take longer than everything else. Instead, the values of a feature
// are put into ordered buckets of equal width, and the weights of the rows are summed by bucket.
// This gives the gain of every split between two buckets, and a bound of the gain of splits inside
// a bucket (stump/criteria.hpp). Only buckets whose bound reaches the best split so far are sorted.
// Once a good split has been found, most features have none. The result is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "data/table.hpp"
#include "parallel/team.hpp"
#include "stump/stump_finder.hpp"

namespace bosquet {

class BlockSearch {
  public:
    virtual ~BlockSearch() = default;
    // The columns of the table are the features `first`, `first` + 1, ...
    virtual void add(std::uint32_t first, const Table& features) = 0;
    // Among equal stumps, the lowest feature and then the lowest threshold, for any order of
    // blocks.
    virtual Stump best() const = 0;
};

std::unique_ptr<BlockSearch> make_block_search(std::span<const double> target,
                                               std::span<const double> weight,
                                               StumpCriterion criterion, Isa isa, Team& team);

}  // namespace bosquet
