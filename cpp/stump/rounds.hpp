// Boosting on stumps for two classes, one stump per round, with five ways to update the weights w:
//
// - discrete: the stump with the smallest weighted error votes -1 or 1 with weight alpha;
//   w e^(-alpha y h)
// - real: half the log-odds on each side, for the smallest Z; w e^(-y h)
// - gentle: the weighted mean of y on each side, by least squares; w e^(-y h)
// - logit: least squares on the working response of logistic regression; w = p (1 - p)
// - mada: like discrete, but a weight never exceeds its initial value
//
// Only the margins y f(x) and the weights are stored, one number each per row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "stump/stump_finder.hpp"

namespace bosquet {

enum class StumpVariant { discrete, real, gentle, logit, mada };

struct StumpRound {
    Stump stump;
    // Its weighted 0-1 error under the weights of the round.
    double error = 0;
    // The factor with which it was added: alpha for discrete and mada, infinite if the error is 0;
    // the learning rate for real and gentle; half of it for logit.
    double alpha = 0;
    // The factor by which the mean of e^(-y f) over the rows changed. The product over all rounds
    // is that mean, which bounds the training error from above. It is 0 if alpha is infinite.
    double z = 1;
    double training_error = 0;  // weighted share of rows on the wrong side of f = 0
    // Whether the stump was added. Discrete and mada add none if the error is 0, or 1/2 or more.
    bool taken = false;
};

class StumpBooster {
  public:
    StumpBooster(const StumpTable& table, Isa isa, Team& team, std::span<const double> target,
                 std::span<const double> weight, StumpVariant variant, double learning_rate);

    StumpRound round(Ensemble& ensemble);

    std::span<const double> margins() const { return {margins_.data(), margins_.size()}; }
    // Writes the distribution of the next round; it sums to 1.
    void weights(double* out) const;

  private:
    // Sums over a block of rows.
    struct BlockSums {
        double weight = 0;       // sum of the weights
        double absolute = 0;     // logit: sum of w |z|
        double squares = 0;      // logit: sum of w z^2
        double potential = 0;    // mean of e^(-y f) with the given row weights
        std::int64_t wrong = 0;  // misclassified rows, or units of row weight
        BlockSums& operator+=(const BlockSums& other);
    };

    bool is_multiplicative() const;
    StumpCriterion criterion() const;
    double row_weight(std::size_t row) const {
        return prior_.size() > 0 ? prior_[row] : equal_weight_;
    }
    void set_row_weights(std::span<const double> weight, double sum);
    std::int64_t count_wrong(Range run) const;
    void set_training_error(std::int64_t wrong);

    // Converts the current weights to units and sums them.
    void sum_all_weights();
    // Sets the unit for weights with this sum.
    void set_unit(double sum);
    void compute_weights_from_margins();
    // Updates margins and weights if the weights are multiplied by one of four factors. It takes
    // one pass, in which only rows whose factor is not 1 are summed again.
    void multiply(const Stump& stump, const StumpStep& step);
    // Updates margins and weights if the weights follow from the margins. Their sum is only known
    // afterwards, so that the conversion to units is a second pass.
    void reweight(const Stump& stump, const double* by_side);
    void set_logit(Range run, const double* exponentials, BlockSums& sums);
    void set_mada(Range run, const double* exponentials, BlockSums& sums);
    BlockSums reweight_block(Range rows, const StumpSides& sides, const double* by_side);

    double sum_wrong_weight(const Stump& stump) const;
    double error_of(const StumpFinding& finding) const;
    StumpStep step_of(const Stump& stump, double scale) const;
    double z_of(const StumpFinding& finding, const StumpStep& step) const;
    static double z_of_vote(double error, double alpha);
    // Returns whether the weights may be multiplied by the factors.
    bool set_factors(const Stump& stump, double z, StumpStep& step) const;

    const StumpTable& table_;
    Isa isa_;
    const StumpKernels& kernels_;
    Team& team_;
    StumpVariant variant_;
    double learning_rate_;
    StumpFinder finder_;
    StumpScale unit_;       // the values of the integer units of the finder
    Buffer<double> prior_;  // given row weights with sum 1; empty if all are equal_weight_
    double equal_weight_ = 0;
    // Weights of the next round, up to a common factor, with the sign of the class.
    Buffer<double> weights_;
    Buffer<double> responses_;  // logit: weight times working response
    Buffer<double> margins_;
    double potential_ = 1;
    double training_error_ = 0;
};

}  // namespace bosquet
