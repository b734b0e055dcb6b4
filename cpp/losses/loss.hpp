// A loss over many rows, with the operations that boosting needs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "losses/kernels.hpp"
#include "losses/minimisers.hpp"
#include "parallel/reducer.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Targets, raw predictions and weights of a set of rows. Consecutive outputs and consecutive
// targets are `stride` numbers apart.
struct LossData {
    std::size_t rows = 0;
    std::size_t stride = 0;
    const double* target = nullptr;
    const double* weight = nullptr;  // nullptr: all weights are 1
    const double* raw = nullptr;
    // Combines these rows with those of other parts; `all_rows` counts the rows of all parts.
    Reducer* reducer = &single_part();
    std::uint64_t all_rows = rows;

    double weight_of(std::size_t row) const { return weight != nullptr ? weight[row] : 1.0; }
    double largest_weight() const {
        return largest_magnitude(rows, [&](std::size_t i) { return weight_of(i); }, *reducer);
    }
    double total_weight() const {
        return sum([&](std::size_t i) { return weight_of(i); });
    }
    // The sum of term(row) over the rows of all parts.
    template <class Term>
    double sum(Term term) const {
        return fixed_sum(rows, term, all_rows, *reducer);
    }
};

// The declarations of a loss.
struct LossTraits {
    std::string_view name;
    Targets targets;
    RawScale scale;
    ParameterRange parameter;
    bool uses_newton_steps;
    bool constant_hessian;
    bool increasing_in_parameter;

    bool has_parameter() const { return parameter.low < parameter.high; }
};

// All losses of BOSQUET_FORMULAS, in that order.
std::span<const LossTraits> all_losses();

class Loss {
  public:
    // `name` is one of BOSQUET_FORMULAS. `outputs` is the number of raw predictions per row: one
    // per class for log_loss with more than two classes, one per parameter if there are several,
    // otherwise one per target.
    Loss(std::string_view name, std::uint32_t outputs, std::uint32_t targets,
         std::vector<double> parameters);

    std::uint32_t outputs() const { return outputs_; }
    std::uint32_t targets() const { return targets_; }
    bool softmax() const { return softmax_; }
    const LossTraits& traits() const;
    bool uses_newton_steps() const { return traits().uses_newton_steps; }
    bool constant_hessian() const { return traits().constant_hessian; }
    // Throws InputError unless the targets of a softmax loss are class numbers.
    void check_classes(std::span<const double> target) const;

    // Sets the delta of Huber's loss for this round: a quantile of the absolute residuals whose
    // level is the parameter. Other losses ignore it.
    void start_round(const LossData& data);

    void gradients(const LossData& data, Range rows, Isa isa, GradientPair* out) const;
    // Writes weight times loss, added over the outputs, for each of the rows.
    void values(const LossData& data, Range rows, Isa isa, double* out) const;
    // The constants with the smallest loss over all rows, one per output. If `data` has raw
    // predictions, the constants are added to them.
    std::vector<double> best_constants(const LossData& data) const;

    // The number of responses per row: probabilities, or one number per output.
    std::size_t response_size() const;
    // Converts raw predictions to responses; both are stored row by row. The responses of several
    // levels are sorted in the order of the levels.
    void responses(const double* raw, std::size_t rows, Isa isa, double* out) const;

    // The constant c that minimises the loss of raw + c on these rows, for one output.
    double minimiser(const LossData& data, std::span<const std::uint32_t> rows,
                     std::uint32_t output) const;
    // The same for each of several groups of rows.
    std::vector<double> minimisers(const LossData& data,
                                   std::span<const std::vector<std::uint32_t>> groups,
                                   std::uint32_t output) const;

  private:
    void check_parameters() const;
    void order_levels();
    void rearrange(std::size_t rows, double* responses) const;
    std::vector<double> constants_with_offset(const LossData& data) const;
    std::vector<double> class_weights(const LossData& data) const;
    void scale_classes(const LossData& data, std::vector<double>& constants) const;
    std::vector<Point> points_of(const LossData& data, std::span<const std::uint32_t> rows,
                                 std::uint32_t output) const;
    std::vector<double> minimise(const PointGroups& groups, std::uint32_t output,
                                 Reducer& reducer) const;
    const double* target_of(const LossData& data, std::uint32_t output) const {
        return data.target + (targets_ == 1 ? 0 : output * data.stride);
    }

    FormulaName formula_;
    std::uint32_t outputs_;
    std::uint32_t targets_;
    bool softmax_;
    std::vector<double> parameters_;       // one per output
    std::vector<std::uint32_t> by_level_;  // outputs by ascending level; empty without levels
    std::vector<double> deltas_;  // deltas of this round for Huber's loss; otherwise parameters_
    bool started_ = false;
};

}  // namespace bosquet
