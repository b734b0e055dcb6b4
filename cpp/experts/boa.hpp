// Bernstein online aggregation: the weight of an expert is multiplied by exp(η r - η² r²).
#pragma once

#include "experts/multi_rate.hpp"

namespace bosquet {

struct BernsteinGain {
    static double of(double eta, double r) { return r - eta * r * r; }
};

class BOA final : public MultiRate<BernsteinGain> {
  public:
    using MultiRate::MultiRate;
};

}  // namespace bosquet
