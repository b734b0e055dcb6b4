// Boosting on stumps: two classes, one stump a round, five ways to weigh the rows.
//
//   discrete  the stump of least weighted error says -1 or 1 with the weight alpha; w e^(-alpha y
//   h) real      half the log odds on either side, by least Z; w e^(-y h) gentle    the weighted
//   mean of y on either side, by least squares; w e^(-y h) logit     least squares to the working
//   response of logistic regression, weights p (1 - p) mada      as discrete, but a weight never
//   exceeds what it was at the start
//
// Only the margins y f(x) and the weights are kept, one number a row each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "stump/finder.hpp"

namespace bosquet {

enum class StumpVariant { discrete, real, gentle, logit, mada };

struct StumpRound {
    Stump stump;
    // Its weighted 0-1 error, by its sign, under the weights it was learned with.
    double error = 0;
    // What it was multiplied with when it was added: alpha for discrete and mada, infinite where
    // the error is 0; the learning rate for real and gentle, half of it for logit.
    double alpha = 0;
    // By what the mean of e^(-y f) over the rows was multiplied. The product over all rounds is
    // that mean, and the training error is never above it. Of an infinite alpha it is 0.
    double z = 1;
    double training_error = 0;  // weighted share of the rows on the wrong side of f = 0
    // Whether it was added. Discrete and mada take no step if the error is 0, or 1/2 or more.
    bool taken = false;
};

class StumpBoost {
  public:
    StumpBoost(const StumpTable& table, Isa isa, Team& team, std::span<const double> target,
               std::span<const double> weight, StumpVariant variant, double learning_rate);

    StumpRound round(Ensemble& ensemble);

    std::span<const double> margins() const { return {margins_.data(), margins_.size()}; }
    // The distribution of the next round: they add up to 1.
    void weights(double* out) const;

  private:
    // Sums over a block of rows.
    struct BlockSums {
        double weight = 0;       // of the weights
        double absolute = 0;     // logit: of w |z|
        double squares = 0;      // logit: of w z^2
        double potential = 0;    // of e^(-y f), by the row weights given
        std::int64_t wrong = 0;  // rows, or units of row weight, that the vote has wrong
        BlockSums& operator+=(const BlockSums& other);
    };

    bool is_multiplicative() const;
    StumpCriterion criterion() const;
    double row_weight(std::size_t row) const { return prior_.size() > 0 ? prior_[row] : even_; }
    void set_row_weights(std::span<const double> weight, double sum);
    std::int64_t count_wrong(Range run) const;
    void set_training_error(std::int64_t wrong);

    // Weights as they are, into units, and added up.
    void sweep_weights();
    // The unit for multiplied weights of this sum.
    void set_unit(double sum);
    void make_weights();
    // The step of the round, and weights that are multiplied by one of four factors: one pass, in
    // which only rows whose factor is not 1 are added up again.
    void multiply(const Stump& stump, const StumpStep& step);
    // The step of the round, and weights that follow from the margins: their sum is known only
    // afterwards, so that turning them into units is another pass.
    void reweigh(const Stump& stump, const double* by_side);
    void set_logit(Range run, const double* falls, BlockSums& sums);
    void set_mada(Range run, const double* falls, BlockSums& sums);
    BlockSums reweigh_block(Range rows, const StumpSides& sides, const double* by_side);

    double wrong_weight(const Stump& stump) const;
    double error_of(const StumpFinding& finding) const;
    StumpStep step_of(const Stump& stump, double scale) const;
    double z_of(const StumpFinding& finding, const StumpStep& step) const;
    static double z_of_vote(double error, double alpha);
    // Whether weights may be multiplied by them.
    bool set_factors(const Stump& stump, double z, StumpStep& step) const;

    const StumpTable& table_;
    Isa isa_;
    const StumpKernels& kernels_;
    Team& team_;
    StumpVariant variant_;
    double learning_rate_;
    StumpFinder finder_;
    StumpScale unit_;       // what the integers of the finder are worth
    Buffer<double> prior_;  // row weights as given, with the sum 1; empty where all are even_
    double even_ = 0;
    // Of the next round, up to a common factor, with the sign of the class.
    Buffer<double> weights_;
    Buffer<double> responses_;  // logit: weight times working response
    Buffer<double> margins_;
    double potential_ = 1;
    double training_error_ = 0;
};

}  // namespace bosquet
