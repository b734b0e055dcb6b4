// Squint: p_k ∝ prior_k Σ_i γ_i η_i exp(η_i R_k - η_i² V_k) with V_k = Σ r_k². The mixture over
// learning rates lets each expert be weighted with the rate that suits it (Koolen and van Erven
// 2015). The prior over rates is γ_i = 1 / ((i+1)(i+2)) on η_i = 2^-i / (2B).
#pragma once

#include <array>
#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

class Squint final : public Rule {
  public:
    explicit Squint(const RuleSetup& setup)
        : Rule(setup),
          limit_(setup.range),
          grid_limit_(setup.range),
          regret_(size(), 0.0),
          squares_(size(), 0.0),
          earlier_bound_(size(), 0.0),
          score_(size()) {}

    void weights(Awake awake, double* p) override {
        Grid grid = grid_limit_ > 0 ? remaining_rates() : Grid{};
        for (std::size_t k = 0; k < size(); ++k)
            score_[k] = log_prior(k) + log_evidence(grid, regret_[k], squares_[k]);
        softmax(score_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double step_size = extremes(excess, size()).magnitude();
        if (!(step_size > 0)) return;
        if (!(grid_limit_ > 0)) {  // the first step with an excess sets the scale
            limit_.admit(step_size);
            grid_limit_ = step_size;
            return;
        }
        double factor = limit_.admit(step_size);
        for (std::size_t k = 0; k < size(); ++k) {
            double r = factor * excess[k];
            regret_[k] += r;
            squares_[k] += r * r;
        }
        // Rates above 1/(2B) are excluded. If half of the grid is excluded, restart: the regret so
        // far is small on the new scale.
        if (limit_.value() > grid_limit_ * (1 << kRates / 2)) restart();
    }

    // The potential Σ prior_k γ_i exp(η_i R_k - η_i² V_k) is at most 1. Hence for every remaining
    // rate R_k ≤ η V_k + (ln(1/prior) + ln(1/γ)) / η.
    double bound(std::size_t k) const override {
        if (!(grid_limit_ > 0)) return 0;
        Grid grid = remaining_rates();
        double best = -1;
        for (int i = 0; i < grid.count; ++i) {
            double eta = grid.eta[i];
            double one = eta * squares_[k] - (log_prior(k) + grid.log_gamma[i]) / eta;
            if (best < 0 || one < best) best = one;
        }
        return earlier_bound_[k] + best + limit_.cut_off();
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.numbers("squares", squares_, 0);
        visitor.numbers("earlier_bound", earlier_bound_);
        visitor.number("grid_limit", grid_limit_);
        limit_.visit(visitor);
    }

  private:
    static constexpr int kRates = 32;

    struct Grid {
        int count = 0;
        std::array<double, kRates> eta, log_gamma, log_weight;  // log_weight: of γ η
    };

    // The rates of at most 1/(2B), and always the smallest rate.
    Grid remaining_rates() const {
        Grid grid;
        double eta = 0.5 / grid_limit_;
        for (int i = 0; i < kRates; ++i, eta /= 2) {
            if (i + 1 < kRates && eta * 2 * limit_.value() > 1) continue;
            double gamma = -portable_log(static_cast<double>(i + 1) * static_cast<double>(i + 2));
            grid.eta[grid.count] = eta;
            grid.log_gamma[grid.count] = gamma;
            grid.log_weight[grid.count++] = gamma + portable_log(eta);
        }
        return grid;
    }

    static double log_evidence(const Grid& grid, double regret, double squares) {
        if (grid.count == 0) return 0;
        std::array<double, kRates> term{};
        for (int i = 0; i < grid.count; ++i) {
            double eta = grid.eta[i];
            term[i] = grid.log_weight[i] + eta * regret - eta * eta * squares;
        }
        double top = extremes(term.data(), grid.count).high;
        double total =
            sum_over(grid.count, [&](std::size_t i) { return exp_of_score(term[i] - top); });
        return top + portable_log(total);
    }

    void restart() {
        for (std::size_t k = 0; k < size(); ++k) {
            earlier_bound_[k] = bound(k);
            regret_[k] = squares_[k] = 0;
        }
        limit_.accept_as_known();
        grid_limit_ = limit_.value();
    }

    ExcessLimit limit_;
    double grid_limit_;  // the limit for which the grid of rates was set up
    std::vector<double> regret_, squares_, earlier_bound_, score_;
};

}  // namespace bosquet
