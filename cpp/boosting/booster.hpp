// Stagewise gradient boosting of trees: each call of round() runs one round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "boosting/fit_data.hpp"
#include "boosting/quantise.hpp"
#include "boosting/row_sampler.hpp"
#include "data/binned.hpp"
#include "grow/grower.hpp"
#include "losses/loss.hpp"
#include "parallel/team.hpp"
#include "trees/tree.hpp"

namespace bosquet {

struct BoostOptions {
    GrowOptions grow;
    double learning_rate = 0.1;
    double subsample = 1;
    bool gradient_sampling = false;
    bool newton = true;  // otherwise leaves get the exact minimiser of the loss on their rows
    std::uint64_t seed = 0;
    // Number of rounds of an earlier fit, from which random draws continue.
    std::uint64_t first_round = 0;
    // With more rows than this, gradients are rounded stochastically. With fewer, rounding to
    // nearest is exact enough and needs no random numbers.
    std::uint64_t stochastic_rounding_above = 50'000'000;
};

// The time spent in the phases of a fit, in seconds of wall-clock time.
struct Timings {
    double gradient = 0, sample = 0, grow = 0, leaves = 0, update = 0, validation = 0;
    GrowTimings growing;
};

class Booster {
  public:
    Booster(FitData& train, std::span<const FeatureBins> bins, Loss loss, BoostOptions options,
            Isa isa, Team& team);

    // A function of the caller that returns the values of a tree's leaves, given the leaf of each
    // row, the number of leaves and the output.
    using LeafValues = std::function<std::vector<double>(std::span<const std::uint16_t>,
                                                         std::size_t, std::uint32_t)>;

    // Adds one tree per output to `ensemble`, or one tree if it has vector leaves.
    // `custom_gradients`, if not empty, replaces the gradients of the loss; output k of row i is at
    // k * rows + i. `leaf_values`, if set, replaces the minimiser of the loss.
    void round(Ensemble& ensemble, std::span<const GradientPair> custom_gradients,
               const LeafValues& leaf_values, FitData* validation);

    // The weighted mean loss over the rows of the training or the validation set.
    double mean_loss(const FitData& fit_data);
    // The same over at most 16,384 evenly spaced training rows, which is enough to monitor a fit.
    double sampled_train_loss();
    bool is_monotone() const { return !options_.grow.monotone.empty(); }
    const Timings& timings() const { return timings_; }

  private:
    void choose_version();
    std::size_t output_parts(std::size_t rows) const;
    void compute_gradients(std::span<const GradientPair> custom_gradients);
    void reduce_ranges(std::span<GradientRange> ranges) const;
    GradientRange range_of(const GradientPair* pairs) const;
    GradientScale scale_of(const GradientPair* pairs, const GradientRange& range) const;
    double sum_squared_gradients(const GradientPair* pairs, const GradientRange& range) const;
    Rounding rounding() const;
    GradientScale quantise(const GradientPair* pairs, const GradientRange& range,
                           std::uint64_t key);
    const GradientPair* split_gradients(std::uint32_t output) const;
    const GradientPair* mix_gradients();
    std::vector<float> draw_signs() const;
    void assign_leaves(const GrownTree& grown);
    double clip_to_step(double value) const;  // clips to [-max_delta_step, max_delta_step]
    std::vector<double> compute_shrunken_values(GrownTree& grown, std::uint32_t output,
                                                const LeafValues& leaf_values);
    void store_values(const std::vector<std::vector<double>>& values, bool vector_leaves,
                      GrownTree& grown) const;
    // Sums over the rows of a leaf, in multiples of the units of g and h.
    struct LeafSum {
        std::int64_t g = 0, h = 0, rows = 0;
    };
    std::vector<LeafSum> sum_by_leaf(std::size_t leaves, const GradientPair* pairs,
                                     FixedUnit g_unit, FixedUnit h_unit) const;
    std::vector<double> compute_newton_values(const GrownTree& grown, std::uint32_t output);
    std::vector<double> compute_exact_values(GrownTree& grown, std::uint32_t output,
                                             const LeafValues& leaf_values);
    std::vector<std::vector<std::uint32_t>> list_leaf_members(const GrownTree& grown) const;
    void bound_by_minimisers(GrownTree& grown,
                             const std::vector<std::vector<std::uint32_t>>& members,
                             std::uint32_t output) const;
    void set_cover(GrownTree& grown) const;
    void update(const std::vector<double>& values, const std::uint16_t* leaf_of_row, double* raw,
                std::size_t rows) const;

    FitData* train_;
    Loss loss_;
    BoostOptions options_;
    Isa isa_;
    Team* team_;
    Grower grower_;
    std::uint64_t rounds_;

    Buffer<GradientPair> pairs_;
    std::vector<GradientRange> ranges_;  // of pairs_, by output
    Buffer<GradientPair> mixed_pairs_;   // only with vector leaves
    Buffer<PackedGradient> packed_;
    RowSampler sampler_;
    Buffer<std::uint16_t> leaf_of_row_;
    Buffer<std::uint16_t> validation_leaf_;
    Buffer<double> losses_;  // by row of the training or the validation set
    std::vector<std::uint16_t> leaf_of_node_;
    std::vector<double> leaf_rows_;  // number of rows per leaf
    Timings timings_;
};

}  // namespace bosquet
