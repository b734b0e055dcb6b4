// Follow the leader: all weight on the expert with the smallest loss so far. It serves as a
// counterexample: its regret can grow linearly.
#pragma once

#include "experts/rule.hpp"

namespace bosquet {

class FollowTheLeader final : public Rule {
  public:
    explicit FollowTheLeader(const RuleSetup& setup)
        : Rule(setup), regret_(size(), 0.0), leads_(size()) {}

    void weights(Awake awake, double* p) override {
        double best = highest(regret_.data(), awake, size());
        for (std::size_t k = 0; k < size(); ++k) leads_[k] = regret_[k] == best ? prior_[k] : 0.0;
        normalise(leads_.data(), prior_.data(), awake, size(), p);
    }

    void update(const double* excess) override {
        for (std::size_t k = 0; k < size(); ++k) regret_[k] += excess[k];
    }

    double bound(std::size_t) const override { return kNoBound; }

    void visit(StateVisitor& visitor) override { visitor.numbers("regret", regret_); }

  private:
    std::vector<double> regret_, leads_;
};

}  // namespace bosquet
