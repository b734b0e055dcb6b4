#include "stump/quantised.hpp"

namespace bosquet {

QuantisedRows::QuantisedRows(std::span<const double> target, std::span<const double> weight,
                             StumpCriterion criterion, Team& team)
    : target_(target), weight_(weight), squared_(criterion == StumpCriterion::squared) {
    double sum = checked_sum(weight, team);
    per_response_ = per_weight_ = units_per_one(sum, weight.size());
    if (squared_) {
        ResponseSums sums = response_sums(target, weight, team);
        per_response_ = units_per_one(sums.absolute, weight.size());
        scale_.squares = sums.squares;
    } else {
        check_signs(target);
    }
    scale_.response = 1 / per_response_;
    scale_.weight = 1 / per_weight_;
}

StumpSums QuantisedRows::fill(Range run, std::int64_t* response, std::int64_t* weight) const {
    StumpSums sums;
    for (std::size_t i = 0; i < run.size(); ++i) {
        double w = weight_[run.begin + i], y = target_[run.begin + i];
        std::int64_t units = in_units(w, per_weight_);
        if (squared_) {
            response[i] = in_units(w * y, per_response_);
            weight[i] = units;
        } else {
            response[i] = y > 0 ? units : -units;
        }
        sums = sums + StumpSums{response[i], units};
    }
    return sums;
}

}  // namespace bosquet
