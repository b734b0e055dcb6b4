// The responses and weights of rows as integers.
#pragma once

#include <cstdint>
#include <span>

#include "stump/stump_finder.hpp"
#include "stump/units.hpp"

namespace bosquet {

// Checks targets and weights, and converts them to integer units.
class QuantisedRows {
  public:
    QuantisedRows(std::span<const double> target, std::span<const double> weight,
                  StumpCriterion criterion, Team& team);

    const StumpScale& scale() const { return scale_; }
    // `weight` is only written for the squared error.
    StumpSums fill(Range run, std::int64_t* response, std::int64_t* weight) const;

  private:
    std::span<const double> target_, weight_;
    bool squared_;
    StumpScale scale_;
    double per_response_, per_weight_;
};

}  // namespace bosquet
