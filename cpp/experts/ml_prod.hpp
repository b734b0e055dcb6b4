// ML-Prod: the weight of an expert is multiplied by 1 + η r at each step.
#pragma once

#include "experts/multi_rate.hpp"

namespace bosquet {

struct ProdGain {
    static double of(double eta, double r) { return log_one_plus(eta * r) / eta; }
};

class MLProd final : public MultiRate<ProdGain> {
  public:
    using MultiRate::MultiRate;
};

}  // namespace bosquet
