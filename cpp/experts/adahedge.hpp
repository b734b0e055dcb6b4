// AdaHedge: exponential weights with η = ln N / Δ, where Δ is the cumulative mixability gap (loss
// of the weights minus mix loss).
#pragma once

#include "experts/rule.hpp"

namespace bosquet {

class AdaHedge final : public Rule {
  public:
    explicit AdaHedge(const RuleSetup& setup)
        : Rule(setup), regret_(size(), 0.0), score_(size()), p_(size()) {}

    // NaN for the infinite rate of the first steps, which gives all weight to the leaders.
    double rate() const override { return delta_ > 0 ? log_size() / delta_ : kNoBound; }

    void weights(Awake awake, double* p) override {
        set_scores(awake);
        softmax(score_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        double before = top(nullptr);
        set_scores(nullptr);
        double norm = softmax(score_.data(), nullptr, size(), p_.data());
        // Loss of the weights and mix loss -ln(Σ p exp(-η ℓ)) / η, both relative to the mixture.
        double weights_loss = -sum_over(size(), [&](std::size_t k) { return p_[k] * excess[k]; });
        double mix_loss;
        if (delta_ > 0) {
            double eta = log_size() / delta_;
            for (std::size_t k = 0; k < size(); ++k) score_[k] += eta * excess[k] - norm;
            mix_loss = -softmax(score_.data(), nullptr, size(), p_.data()) / eta;
        } else {
            mix_loss = 0;
        }
        for (std::size_t k = 0; k < size(); ++k) regret_[k] += excess[k];
        if (!(delta_ > 0)) mix_loss = before - top(nullptr);
        double gap = weights_loss - mix_loss;
        last_delta_ = delta_;
        if (gap > 0) delta_ += gap;
    }

    // Δ_n + ln(1/prior) / η_n; at most 2 √(V ln N) + S (4/3 ln N + 2) for equal prior weights.
    double bound(std::size_t k) const override {
        return delta_ - log_prior(k) * last_delta_ / log_size();
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.number("delta", delta_);
        visitor.number("last_delta", last_delta_);
    }

  private:
    double top(Awake awake) const { return highest(regret_.data(), awake, size()); }

    void set_scores(Awake awake) {
        if (delta_ > 0) {
            double eta = log_size() / delta_;
            for (std::size_t k = 0; k < size(); ++k) score_[k] = log_prior(k) + eta * regret_[k];
            return;
        }
        double best = top(awake);
        for (std::size_t k = 0; k < size(); ++k)
            score_[k] = regret_[k] >= best ? log_prior(k) : log_prior(k) + 2 * kMinScore;
    }

    double delta_ = 0, last_delta_ = 0;
    std::vector<double> regret_, score_, p_;
};

}  // namespace bosquet
