// The best split of a feature whose values are in ordered buckets: between two buckets, or inside a
// bucket whose rows are sorted.
#pragma once

#include <cstdint>

#include "stump/criteria.hpp"

namespace bosquet {

// A position is a bucket and the number of its sorted rows that go left; kAfter is the split after
// the bucket.
template <class Criterion>
struct BucketSplit {
    static constexpr std::uint32_t kAfter = 0xffffffff;

    // The gain that the next split has to exceed; initially that of the constant.
    typename Criterion::Gain gain;
    bool found = false;
    std::uint64_t position = 0;
    StumpSums left{};
    std::size_t feature = 0;

    std::uint32_t bucket() const { return static_cast<std::uint32_t>(position >> 32); }
    bool is_after() const { return static_cast<std::uint32_t>(position) == kAfter; }
    static std::uint64_t at(std::size_t bucket, std::uint32_t inside) {
        return std::uint64_t{bucket} << 32 | inside;
    }

    // Accepts a split with a larger gain, or with the same gain at a lower threshold.
    bool consider(const Criterion& criterion, StumpSums sums, std::uint64_t where) {
        if (criterion.falls_short(sums, gain)) return false;
        auto reached = criterion(sums);
        bool lower = found && reached == gain && where < position;
        if (!(reached > gain) && !lower) return false;
        gain = reached;
        found = true;
        position = where;
        left = sums;
        return true;
    }
    // Larger gain, or the same gain on a lower feature.
    bool beats(const BucketSplit& other) const {
        if (!found || !other.found) return found;
        return gain > other.gain || (gain == other.gain && feature < other.feature);
    }
};

}  // namespace bosquet
