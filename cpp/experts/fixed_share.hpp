// Fixed share: exponential weights of which a share is redistributed at each step, so that an
// expert with a poor past can lead soon after it improves.
#pragma once

#include <cmath>

#include "experts/rule.hpp"

namespace bosquet {

class FixedShare final : public Rule {
  public:
    explicit FixedShare(const RuleSetup& setup)
        : Rule(setup),
          given_rate_(setup.rate),
          share_(setup.share),
          given_range_(setup.range),
          range_(setup.range),
          log_p_(size()),
          p_(size()) {
        for (std::size_t k = 0; k < size(); ++k) log_p_[k] = log_prior(k);
    }

    // The fixed rate, or the best rate against sequences of experts that shift with probability
    // `share`.
    double rate() const override {
        if (given_rate_ > 0) return given_rate_;
        // A given range fixes the rate, since the bound holds for a constant rate.
        double range = given_range_ > 0 ? given_range_ : range_;
        if (!(range > 0)) return 0;
        double cost = share_ * log_size();
        if (share_ > 0 && share_ < 1)
            cost -= share_ * portable_log(share_) + (1 - share_) * log_one_plus(-share_);
        return std::sqrt(8 * cost) / range;
    }

    void weights(Awake awake, double* p) override { softmax(log_p_.data(), awake, size(), p); }

    void update(const double* excess) override {
        double width = extremes(excess, size()).width(), eta = rate();
        double spread = width > given_range_ ? width : given_range_;
        double gap = eta * spread * spread / 8;
        // The mixability gap is at most the spread of the losses, which is the only bound while the
        // rate is 0.
        if (learns_range() && (!(eta > 0) || gap > spread)) gap = spread;
        mixability_gaps_ += gap;
        last_rate_ = eta;
        range_ = width > range_ ? width : range_;
        ++steps_;

        for (std::size_t k = 0; k < size(); ++k) log_p_[k] += eta * excess[k];
        double norm = softmax(log_p_.data(), nullptr, size(), p_.data());
        for (std::size_t k = 0; k < size(); ++k)
            log_p_[k] = share_ > 0 ? portable_log((1 - share_) * p_[k] + share_ * prior_[k])
                                   : log_p_[k] - norm;
    }

    double bound(std::size_t k) const override { return bound_of(-log_prior(k), 0); }

    // With a given range M: ((m + 1) ln N + m ln(1/α) + (n - m - 1) ln(1/(1-α))) / η + η M² n / 8.
    double bound_with_shifts(std::uint64_t shifts) const override {
        double largest_surprise = 0;
        for (std::size_t k = 0; k < size(); ++k)
            largest_surprise = -log_prior(k) > largest_surprise ? -log_prior(k) : largest_surprise;
        return bound_of(largest_surprise, shifts);
    }

    void visit(StateVisitor& visitor) override {
        visitor.numbers("log_weights", log_p_);
        visitor.number("range", range_);
        visitor.number("mixability_gaps", mixability_gaps_);
        visitor.number("last_rate", last_rate_);
        visitor.count("steps", steps_);
    }

  private:
    bool learns_range() const { return !(given_rate_ > 0) && !(given_range_ > 0); }

    // With a constant rate this is the bound of the literature. With a learned range the rate η_t
    // decreases. Let v_t be the weight before the share is redistributed. For the expert that is
    // followed r_t ≤ (ln v_t - ln p_t) / η_t + gap_t, and while it is followed ln v_t ≤ ln p_(t+1)
    // + ln 1/(1-α). Summation by parts weights ln p_t by the increase of 1/η. Since p_t ≥ απ for t
    // > 1, each of the m+1 segments adds at most ln(1/απ) / η_n in total, instead of ln(1/π) / η
    // for the first.
    double bound_of(double surprise, std::uint64_t shifts) const {
        if (steps_ == 0) return 0;
        if (learns_range()) {
            if (!(last_rate_ > 0)) return mixability_gaps_;
            surprise -= portable_log(share_);
        } else if (!(last_rate_ > 0)) {
            return kNoBound;
        }
        if (shifts >= steps_) shifts = steps_ - 1;
        double m = static_cast<double>(shifts), stays = static_cast<double>(steps_) - m - 1;
        double total = (m + 1) * surprise;
        if (m > 0 && !learns_range()) total -= m * portable_log(share_);
        if (stays > 0 && share_ > 0) total -= stays * log_one_plus(-share_);
        return total / last_rate_ + mixability_gaps_;
    }

    double given_rate_, share_, given_range_, range_;
    double mixability_gaps_ = 0, last_rate_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<double> log_p_, p_;
};

}  // namespace bosquet
