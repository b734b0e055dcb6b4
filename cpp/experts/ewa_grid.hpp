// Exponential weights with a rate that is chosen online: the rate of a grid that would have had the
// smallest loss so far.
#pragma once

#include <algorithm>

#include "experts/rule.hpp"

namespace bosquet {

class GridWeights final : public Rule {
  public:
    explicit GridWeights(const RuleSetup& setup)
        : Rule(setup),
          grid_(setup.grid),
          relative_(setup.relative_grid),
          range_(setup.range),
          gain_(grid_.size(), 0.0),
          regret_(size(), 0.0),
          score_(size()),
          p_(size()) {
        best_ = grid_.size() / 2;
    }

    double rate() const override { return rate_of(best_); }

    void weights(Awake awake, double* p) override { weights_at(rate(), awake, p); }

    void update(const double* excess) override {
        // All rates are evaluated on the same losses, so that only their weights differ.
        for (std::size_t i = 0; i < grid_.size(); ++i) {
            weights_at(rate_of(i), nullptr, p_.data());
            gain_[i] += sum_over(size(), [&](std::size_t k) { return p_[k] * excess[k]; });
        }
        best_ = static_cast<std::uint64_t>(std::max_element(gain_.begin(), gain_.end()) -
                                           gain_.begin());
        double width = extremes(excess, size()).width();
        range_ = width > range_ ? width : range_;
        for (std::size_t k = 0; k < size(); ++k) regret_[k] += excess[k];
    }

    double bound(std::size_t) const override { return kNoBound; }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("regret", regret_);
        visitor.numbers("gain", gain_);
        visitor.number("range", range_);
        visitor.count("best", best_);
        best_ = std::min<std::uint64_t>(best_, grid_.size() - 1);  // a file may hold any number
    }

  private:
    double rate_of(std::size_t i) const {
        if (!relative_) return grid_[i];
        return range_ > 0 ? grid_[i] / range_ : 0.0;
    }

    void weights_at(double beta, Awake awake, double* p) {
        for (std::size_t k = 0; k < size(); ++k) score_[k] = log_prior(k) + beta * regret_[k];
        softmax(score_.data(), awake, size(), p);
    }

    std::vector<double> grid_;
    bool relative_;
    double range_;
    std::uint64_t best_;
    std::vector<double> gain_, regret_, score_, p_;
};

}  // namespace bosquet
