// The best split of a feature whose values lie in buckets, in order: between two buckets, or inside
// one whose rows are sorted.
#pragma once

#include <cstdint>

#include "stump/rules.hpp"

namespace bosquet {

// A position is a bucket, and within it the number of sorted rows that go left; kBehind is the
// split behind the bucket.
template <class Rule>
struct BucketCut {
    static constexpr std::uint32_t kBehind = 0xffffffff;

    typename Rule::Gain gain;  // what the next one has to beat: at first, the constant's
    bool found = false;
    std::uint64_t position = 0;
    StumpSums left{};
    std::size_t feature = 0;

    std::uint32_t bucket() const { return static_cast<std::uint32_t>(position >> 32); }
    bool is_behind() const { return static_cast<std::uint32_t>(position) == kBehind; }
    static std::uint64_t at(std::size_t bucket, std::uint32_t inside) {
        return std::uint64_t{bucket} << 32 | inside;
    }

    // Takes a split that gains more, or as much at a lower threshold.
    bool consider(const Rule& rule, StumpSums sums, std::uint64_t where) {
        if (rule.falls_short(sums, gain)) return false;
        auto reached = rule(sums);
        bool lower = found && reached == gain && where < position;
        if (!(reached > gain) && !lower) return false;
        gain = reached;
        found = true;
        position = where;
        left = sums;
        return true;
    }
    // More gain, or as much on a lower feature.
    bool beats(const BucketCut& other) const {
        if (!found || !other.found) return found;
        return gain > other.gain || (gain == other.gain && feature < other.feature);
    }
};

}  // namespace bosquet
