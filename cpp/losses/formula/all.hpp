// All losses of one target and one raw prediction, with the names that users pass.
#pragma once

#include "losses/formula/absolute_error.hpp"
#include "losses/formula/expectile.hpp"
#include "losses/formula/exponential.hpp"
#include "losses/formula/gamma.hpp"
#include "losses/formula/huber.hpp"
#include "losses/formula/log_cosh.hpp"
#include "losses/formula/log_loss.hpp"
#include "losses/formula/poisson.hpp"
#include "losses/formula/quantile.hpp"
#include "losses/formula/squared_error.hpp"
#include "losses/formula/squared_hinge.hpp"
#include "losses/formula/tweedie.hpp"

#define BOSQUET_FORMULAS(X)          \
    X(squared_error, SquaredError)   \
    X(absolute_error, AbsoluteError) \
    X(huber, Huber)                  \
    X(quantile, Quantile)            \
    X(expectile, Expectile)          \
    X(log_cosh, LogCosh)             \
    X(poisson, Poisson)              \
    X(gamma, Gamma)                  \
    X(tweedie, Tweedie)              \
    X(log_loss, LogLoss)             \
    X(exponential, Exponential)      \
    X(squared_hinge, SquaredHinge)

namespace bosquet {

enum class FormulaName {
#define BOSQUET_NAME(name, Type) name,
    BOSQUET_FORMULAS(BOSQUET_NAME)
#undef BOSQUET_NAME
        count
};

}  // namespace bosquet
