// The best stump of features that are given block by block and not kept.
//
// Sorting every feature anew would cost more than all the rest. Instead the values of a feature are
// put into buckets of equal width, in order, and the rows are added up by bucket. That gives the
// gain of every split between two buckets, and a bound on the gain of those inside one
// (stump/rules.hpp). Only buckets whose bound reaches the best split so far are sorted: in most
// features none is, once a good one has been seen. The result is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "data/table.hpp"
#include "parallel/team.hpp"
#include "stump/finder.hpp"

namespace bosquet {

class BlockSearch {
  public:
    virtual ~BlockSearch() = default;
    // The columns of the table are the features `first`, `first` + 1, ...
    virtual void add(std::uint32_t first, const Table& features) = 0;
    // Of equal ones the lowest feature, then the lowest threshold, whatever the order of blocks.
    virtual Stump best() const = 0;
};

std::unique_ptr<BlockSearch> make_block_search(std::span<const double> target,
                                               std::span<const double> weight,
                                               StumpCriterion criterion, Isa isa, Team& team);

}  // namespace bosquet
