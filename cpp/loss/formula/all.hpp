// Every loss of one target and one raw prediction, under the name users give it.
#pragma once

#include "loss/formula/absolute_error.hpp"
#include "loss/formula/expectile.hpp"
#include "loss/formula/exponential.hpp"
#include "loss/formula/gamma.hpp"
#include "loss/formula/huber.hpp"
#include "loss/formula/log_cosh.hpp"
#include "loss/formula/log_loss.hpp"
#include "loss/formula/poisson.hpp"
#include "loss/formula/quantile.hpp"
#include "loss/formula/squared_error.hpp"
#include "loss/formula/squared_hinge.hpp"
#include "loss/formula/tweedie.hpp"

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
