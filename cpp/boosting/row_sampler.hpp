// Samples the rows on which a tree is grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "boosting/fit_data.hpp"
#include "boosting/quantise.hpp"
#include "losses/kernels.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Draws rows without replacement, each by the hash of its number, so that the result does not
// depend on threads or on the partition of the data.
class RowSampler {
  public:
    // Draws each row with the same probability `share`.
    void draw_uniform(std::size_t rows, const Part& part, double share, std::uint64_t seed,
                      std::uint64_t round, Team& team);

    // Draws a row with a probability proportional to the length of its gradient, at most 1 and
    // `share` on average (minimal variance sampling: Ibragimov and Gusev 2019). The pairs of a row
    // drawn with probability p are scaled by 1 / p. `ranges` are those of the pairs by output.
    void draw_by_gradient(const GradientPair* pairs, std::span<const GradientRange> ranges,
                          std::size_t rows, const Part& part, double share, std::uint64_t seed,
                          std::uint64_t round, Team& team);

    std::span<const std::uint32_t> rows() const { return {rows_.data(), count_}; }
    // The scaled pairs of one output; zeros for rows that were not drawn.
    const GradientPair* scaled(std::uint32_t output) const {
        return scaled_.data() + output * (scaled_.size() / outputs_);
    }

  private:
    template <class IsKept>
    void collect_rows(std::size_t rows, Team& team, IsKept is_kept);
    bool draws_nothing(const Part& part) const;
    void add_row(std::uint64_t number, std::size_t rows, const Part& part);

    Buffer<std::uint32_t> rows_;
    std::size_t count_ = 0;
    Buffer<float> length_;
    Buffer<GradientPair> scaled_;
    std::uint32_t outputs_ = 1;
};

}  // namespace bosquet
