// The stagewise loop over trees: one call a round.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "boosting/quantise.hpp"
#include "boosting/sample.hpp"
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
    bool newton = true;  // else leaves take the exact minimiser of the loss on their rows
    std::uint64_t seed = 0;
    std::uint64_t first_round = 0;  // rounds that an earlier fit has made: draws go on from there
};

// Rows with their targets, and what the trees so far say of them. Targets and weights (empty: all
// 1) are the caller's and must outlive it.
class Sample {
  public:
    Sample(std::shared_ptr<const BinnedMatrix> matrix, std::span<const double> target,
           std::span<const double> weight, std::uint32_t outputs);

    std::size_t rows() const { return matrix_->rows(); }
    const BinnedMatrix& matrix() const { return *matrix_; }
    LossData data() const;
    double* raw(std::uint32_t output) { return raw_.data() + output * rows(); }
    const double* raw(std::uint32_t output) const { return raw_.data() + output * rows(); }
    std::span<const double> weight() const { return weight_; }
    std::span<const double> target() const { return target_; }
    double total_weight() const;

  private:
    std::shared_ptr<const BinnedMatrix> matrix_;
    std::span<const double> target_;
    std::span<const double> weight_;
    Buffer<double> raw_;
};

// Where the time of a fit goes, in seconds of wall-clock time.
struct Timings {
    double gradient = 0, sample = 0, grow = 0, leaves = 0, update = 0, holdout = 0;
    GrowTimings growing;
};

class Booster {
  public:
    Booster(Sample& train, std::span<const FeatureBins> bins, Loss loss, BoostOptions options,
            Isa isa, Team& team);

    // Values of a tree's leaves, asked of the caller: (leaf of each row, leaves, output).
    using LeafValues = std::function<std::vector<double>(std::span<const std::uint16_t>,
                                                         std::size_t, std::uint32_t)>;

    // One tree for each output, added to `ensemble`. `given`, if not empty, takes the place of the
    // loss's own gradients: output k of row i at k * rows + i. `leaf_values`, if any, takes the
    // place of the loss's own minimiser.
    void round(Ensemble& ensemble, std::span<const GradientPair> given,
               const LeafValues& leaf_values, Sample* holdout);

    // Mean loss over the rows' weights.
    double mean_loss(const Sample& sample) const;
    // The same over at most 16,384 training rows, evenly spaced: enough to follow a fit by.
    double sampled_train_loss() const;
    const Timings& timings() const { return timings_; }

  private:
    void compute_gradients(std::span<const GradientPair> given);
    PairSums sum_pairs(const GradientPair* pairs) const;
    GradientScale quantise(const GradientPair* pairs);
    void place_rows(const GrownTree& grown);
    double within_step(double value) const;  // held to max_delta_step
    void set_values(GrownTree& grown, std::uint32_t output, const LeafValues& leaf_values);
    struct LeafSum {
        double g = 0, h = 0;
        std::uint32_t rows = 0;
    };
    std::vector<LeafSum> sum_by_leaf(std::size_t leaves, const GradientPair* pairs) const;
    std::vector<double> newton_values(const GrownTree& grown, std::uint32_t output);
    std::vector<double> exact_values(GrownTree& grown, std::uint32_t output,
                                     const LeafValues& leaf_values);
    std::vector<std::vector<std::uint32_t>> leaf_members(const GrownTree& grown) const;
    void bound_by_minimisers(GrownTree& grown,
                             const std::vector<std::vector<std::uint32_t>>& members,
                             std::uint32_t output) const;
    void set_cover(GrownTree& grown) const;
    void update(const GrownTree& grown, const std::uint16_t* leaf_of_row, double* raw,
                std::size_t rows) const;

    Sample* train_;
    Loss loss_;
    BoostOptions options_;
    Isa isa_;
    Team* team_;
    Grower grower_;
    std::uint64_t rounds_;

    Buffer<GradientPair> pairs_;
    Buffer<Packed> packed_;
    RowSampler sampler_;
    Buffer<std::uint16_t> leaf_of_row_;
    Buffer<std::uint16_t> holdout_leaf_;
    std::vector<std::uint16_t> leaf_of_node_;
    std::vector<double> leaf_weight_;
    mutable Timings timings_;
};

}  // namespace bosquet
