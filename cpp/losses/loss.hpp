// A loss over rows: what boosting asks of it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "losses/kernels.hpp"
#include "parallel/team.hpp"

namespace bosquet {

// Targets, raw predictions and weights of a set of rows; outputs and targets lie `stride` apart.
struct LossData {
    std::size_t rows = 0;
    std::size_t stride = 0;
    const double* target = nullptr;
    const double* weight = nullptr;  // null: all 1
    const double* raw = nullptr;
};

// What is known of a loss without any rows.
struct LossTraits {
    std::string_view name;
    Targets targets;
    RawScale scale;
    ParameterRange parameter;
    bool curved;
    bool constant_hessian;

    bool has_parameter() const { return parameter.low < parameter.high; }
};

// Every loss of BOSQUET_FORMULAS, in its order.
std::span<const LossTraits> all_losses();

class Loss {
  public:
    // `name` is one of BOSQUET_FORMULAS. `outputs` raw predictions a row: one a class for log_loss
    // with more than two classes, one per parameter where there are several, one per target
    // otherwise.
    Loss(std::string_view name, std::uint32_t outputs, std::uint32_t targets,
         std::vector<double> parameters);

    std::uint32_t outputs() const { return outputs_; }
    std::uint32_t targets() const { return targets_; }
    bool softmax() const { return softmax_; }
    const LossTraits& traits() const;
    bool curved() const { return traits().curved; }
    bool constant_hessian() const { return traits().constant_hessian; }
    // An InputError unless the targets of softmax are numbers of classes.
    void check_classes(std::span<const double> target) const;

    // Huber's delta of this round: a quantile of the absolute residuals, level by `parameters`.
    void start_round(const LossData& data);

    void gradients(const LossData& data, Range rows, Isa isa, GradientPair* out) const;
    // Sum over rows and outputs of weight times loss.
    double value(const LossData& data, Range rows, Isa isa) const;
    // The constants that are best for all rows.
    std::vector<double> best_constants(const LossData& data) const;

    // How many numbers tell a row's response: its probabilities, or one for each output.
    std::size_t response_size() const;
    // Responses of rows whose raw predictions lie side by side, as they then do themselves.
    void responses(const double* raw, std::size_t rows, Isa isa, double* out) const;

    // The constant c that is best for raw + c on these rows, for one output.
    double minimiser(const LossData& data, std::span<const std::uint32_t> rows,
                     std::uint32_t output) const;

  private:
    void check_parameters() const;
    struct Point {
        double y, f, w;
    };
    double minimise(std::vector<Point>& points, std::uint32_t output) const;
    static double unit_of(const std::vector<Point>& points);
    double search(const std::vector<Point>& points, std::uint32_t output) const;
    const double* target_of(const LossData& data, std::uint32_t output) const {
        return data.target + (targets_ == 1 ? 0 : output * data.stride);
    }

    FormulaName formula_;
    std::uint32_t outputs_;
    std::uint32_t targets_;
    bool softmax_;
    std::vector<double> parameters_;  // one an output
    std::vector<double> deltas_;      // Huber's of this round; parameters_ otherwise
    bool started_ = false;
};

// The value with a share `level` of the weight below it. Reorders the points.
struct WeightedValue {
    double value, weight;
};
double weighted_quantile(std::vector<WeightedValue>& values, double level);

}  // namespace bosquet
