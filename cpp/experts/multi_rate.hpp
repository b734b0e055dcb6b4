// The common part of ML-Prod and BOA: p_k ∝ prior_k η_k exp(η_k G_k), where G_k is the sum of a
// gain slightly below the excess. Every expert has its own rate η_k = min(1 / (2B), √(ln N / (B² +
// Σ r_k²))), where B is the limit of the excess.
//
// Both gains satisfy exp(η gain) ≤ 1 + η r for η |r| ≤ 1/2, the only property that the bound of
// Gaillard, Stoltz and van Erven (2014) needs.
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

template <class Gain>
class MultiRate : public Rule {
  public:
    explicit MultiRate(const RuleSetup& setup)
        : Rule(setup),
          limit_(setup.range),
          eta_(size(), 0.0),
          gain_(size(), 0.0),
          squares_(size(), 0.0),
          shortfall_(size(), 0.0),
          next_eta_(size(), 0.0),
          score_(size()) {
        if (limit_.value() > 0)
            for (std::size_t k = 0; k < size(); ++k) eta_[k] = rate_of(k);
    }

    void weights(Awake awake, double* p) override {
        bool started = limit_.value() > 0;
        for (std::size_t k = 0; k < size(); ++k) score_[k] = log_prior(k);
        for (std::size_t k = 0; started && k < size(); ++k) {
            double eta = eta_[k] > kMinRate ? eta_[k] : kMinRate;
            score_[k] += portable_log(eta) + eta * gain_[k];
        }
        softmax(score_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double step_size = extremes(excess, size()).magnitude();
        if (!(step_size > 0)) return;
        bool first = !(limit_.value() > 0);
        double factor = limit_.admit(step_size);
        if (first) {  // the first step only sets the scale
            for (std::size_t k = 0; k < size(); ++k) eta_[k] = rate_of(k);
            return;
        }
        for (std::size_t k = 0; k < size(); ++k) {
            double r = factor * excess[k], gain = Gain::of(eta_[k], r);
            gain_[k] += gain;
            shortfall_[k] += r - gain;
            squares_[k] += r * r;
            next_eta_[k] = rate_of(k);
        }
        drift_ += sum_over(size(),
                           [&](std::size_t k) { return prior_[k] * (eta_[k] / next_eta_[k] - 1); });
        eta_.swap(next_eta_);
    }

    // (ln(1/prior) + ln(1 + drift/e)) / η_k + Σ (r - gain), plus what the limit cut off.
    double bound(std::size_t k) const override {
        if (!(eta_[k] > 0)) return 0;
        double logs = -log_prior(k) + log_one_plus(drift_ / 2.718281828459045);
        return logs / eta_[k] + shortfall_[k] + limit_.cut_off();
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("rates", eta_, 0);
        visitor.numbers("gain", gain_);
        visitor.numbers("squares", squares_, 0);
        visitor.numbers("shortfall", shortfall_);
        visitor.number("drift", drift_);
        limit_.visit(visitor);
    }

  private:
    static constexpr double kMinRate = 1e-300;  // portable_log needs a normal number

    double rate_of(std::size_t k) const {
        double limit = limit_.value();
        double by_size = 0.5 / limit;
        double by_squares = std::sqrt(log_size() / (limit * limit + squares_[k]));
        return by_size < by_squares ? by_size : by_squares;
    }

    ExcessLimit limit_;
    double drift_ = 0;  // Σ prior_k Σ_t (η_{k,t-1} / η_{k,t} - 1)
    std::vector<double> eta_, gain_, squares_, shortfall_, next_eta_, score_;
};

}  // namespace bosquet
