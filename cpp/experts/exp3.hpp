// EXP3 and EXP3-IX: exponential weights for bandit feedback, where only the loss of the chosen
// expert is observed. It is divided by the probability of the choice, which makes the estimated
// loss of every expert unbiased. IX adds γ to that probability, which bounds the estimate.
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

template <bool Implicit>
class BanditWeights : public Rule {
  public:
    explicit BanditWeights(const RuleSetup& setup)
        : Rule(setup),
          given_rate_(setup.rate),
          given_range_(setup.range),
          range_(setup.range),
          confidence_(setup.confidence),
          gain_(size(), 0.0),
          score_(size()) {}

    Feedback feedback() const override { return Feedback::bandit; }

    // The fixed rate, or √(ln N / (N t)) / M.
    double rate() const override {
        if (given_rate_ > 0) return given_rate_;
        if (!(range_ > 0)) return 0;
        double chances = static_cast<double>(size()) * static_cast<double>(steps_ + 1);
        return std::sqrt(log_size() / chances) / range_;
    }

    void weights(Awake awake, double* p) override {
        double eta = rate();
        for (std::size_t k = 0; k < size(); ++k) score_[k] = log_prior(k) + eta * gain_[k];
        softmax(score_.data(), awake, size(), p);
    }

    void reward(std::size_t chosen, double probability, double loss, Awake awake) override {
        double eta = rate();
        double gamma = Implicit ? eta * range_ / 2 : 0.0;
        gain_[chosen] -= loss / (probability + gamma);
        // Experts that are asleep get the loss of the chosen expert, which is on average that of
        // the mixture.
        if (awake != nullptr)
            for (std::size_t k = 0; k < size(); ++k) gain_[k] -= awake[k] ? 0.0 : loss;
        rates_ += eta;
        last_rate_ = eta;
        range_ = loss > range_ ? loss : range_;
        ++steps_;
    }

    // EXP3, in expectation: ln(1/prior)/η_n + N M² Σ η_t / 2 (Bubeck and Cesa-Bianchi 2012, theorem
    // 3.1). EXP3-IX, with probability 1 - δ: (ln(1/prior) + ln(2N/δ))/η_n + N M² Σ η_t + M ln(2/δ)
    // (Neu 2015, theorem 1). Both hold for losses in [0, M] with M given in advance.
    double bound(std::size_t k) const override {
        if (steps_ == 0) return 0;
        if (!(given_range_ > 0) || range_ > given_range_ || !(last_rate_ > 0)) return kNoBound;
        double spread = static_cast<double>(size()) * given_range_ * given_range_ * rates_;
        if (!Implicit) return -log_prior(k) / last_rate_ + spread / 2;
        double surprise = portable_log(2 / (1 - confidence_));
        double count = portable_log(static_cast<double>(size()));
        return (-log_prior(k) + count + surprise) / last_rate_ + spread + given_range_ * surprise;
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("gain", gain_);
        visitor.number("range", range_);
        visitor.number("rates", rates_);
        visitor.number("last_rate", last_rate_);
        visitor.count("steps", steps_);
    }

  private:
    double given_rate_, given_range_, range_, confidence_;
    double rates_ = 0, last_rate_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<double> gain_, score_;
};

class Exp3 final : public BanditWeights<false> {
  public:
    using BanditWeights::BanditWeights;
};

class Exp3IX final : public BanditWeights<true> {
  public:
    using BanditWeights::BanditWeights;
};

}  // namespace bosquet
