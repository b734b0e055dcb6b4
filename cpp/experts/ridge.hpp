// Online ridge regression on the forecasts: w minimises Σ (y - w·f)² + λ |w - prior|² over the past
// steps.
//
// A = λI + Σ f fᵀ is stored as its triangular root (Cholesky factor), which is updated by Givens
// rotations. Updating the inverse of A, as textbooks do, would lose precision for large, nearly
// collinear forecasts.
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

class OnlineRidge final : public Rule {
  public:
    explicit OnlineRidge(const RuleSetup& setup)
        : Rule(setup),
          penalty_(setup.penalty),
          root_(size() * size(), 0.0),
          right_(size(), 0.0),
          weight_(prior_),
          row_(size()) {
        if (penalty_ > 0) start();
    }

    Feedback feedback() const override { return Feedback::regression; }

    // Weights may have any sign and any sum; every expert has to be awake.
    void weights(Awake, double* p) override {
        for (std::size_t k = 0; k < size(); ++k) p[k] = weight_[k];
    }

    void regress(const double* forecasts, double truth) override {
        if (!(penalty_ > 0)) {
            // Proportional to the squared forecasts, so that the result does not depend on their
            // unit.
            double squares =
                sum_over(size(), [&](std::size_t k) { return forecasts[k] * forecasts[k]; });
            penalty_ = kRelativePenalty * squares / static_cast<double>(size());
            if (!(penalty_ > 0)) penalty_ = 1;
            start();
        }
        double prediction =
            sum_over(size(), [&](std::size_t k) { return weight_[k] * forecasts[k]; });
        loss_ += (truth - prediction) * (truth - prediction);
        for (std::size_t k = 0; k < size(); ++k) row_[k] = forecasts[k];
        double rest = truth;
        for (std::size_t i = 0; i < size(); ++i) rotate_in(i, rest);
        minimal_loss_ += rest * rest;
        solve();
    }

    double bound(std::size_t k) const override {
        std::vector<double> u(size(), 0.0);
        u[k] = 1;
        return bound_to_combination(u.data());
    }

    // `minimal_loss_` is the minimum of the penalised loss, min_u Σ (y - u·f)² + λ |u - prior|².
    // The regret to any combination u is therefore at most (loss - minimal_loss_) + λ |u - prior|²
    // (Azoury and Warmuth 2001).
    double bound_to_combination(const double* u) const override {
        double distance = sum_over(
            size(), [&](std::size_t k) { return (u[k] - prior_[k]) * (u[k] - prior_[k]); });
        return loss_ - minimal_loss_ + penalty_ * distance;
    }

    void visit(StateVisitor& visitor) override {
        visitor.number("penalty", penalty_);
        visitor.numbers("root", root_);
        visitor.numbers("right", right_);
        visitor.numbers("weights", weight_);
        visitor.number("loss", loss_);
        visitor.number("minimal_loss", minimal_loss_);
    }

  private:
    static constexpr double kRelativePenalty = 0.01;

    void start() {
        double root = std::sqrt(penalty_);
        for (std::size_t k = 0; k < size(); ++k) {
            root_[k * size() + k] = root;
            right_[k] = root * prior_[k];
        }
    }

    // Applies a Givens rotation that sets entry i of the new row to 0.
    void rotate_in(std::size_t i, double& rest) {
        double* line = root_.data() + i * size();
        if (row_[i] == 0) return;
        // Not √(a² + b²), which overflows for large forecasts.
        double a = std::fabs(line[i]), b = std::fabs(row_[i]);
        double larger = a > b ? a : b, smaller = a > b ? b : a;
        double ratio = smaller / larger;
        double length = larger * std::sqrt(1 + ratio * ratio);
        double c = line[i] / length, s = row_[i] / length;
        for (std::size_t k = i; k < size(); ++k) {
            double old = line[k];
            line[k] = c * old + s * row_[k];
            row_[k] = c * row_[k] - s * old;
        }
        double old = right_[i];
        right_[i] = c * old + s * rest;
        rest = c * rest - s * old;
    }

    void solve() {
        for (std::size_t i = size(); i-- > 0;) {
            const double* line = root_.data() + i * size();
            double sum = right_[i];
            for (std::size_t k = i + 1; k < size(); ++k) sum -= line[k] * weight_[k];
            weight_[i] = line[i] != 0 ? sum / line[i] : 0.0;
        }
    }

    double penalty_, loss_ = 0, minimal_loss_ = 0;
    std::vector<double> root_, right_, weight_, row_;
};

}  // namespace bosquet
