#include "experts/rule.hpp"

#include <cmath>

#include "base/error.hpp"
#include "experts/rules.hpp"

namespace bosquet {

Rule::Rule(const RuleSetup& setup) : prior_(setup.prior) {
    if (prior_.empty()) throw InputError("prior is empty; a mixture needs at least one expert");
    log_prior_.reserve(prior_.size());
    for (double weight : prior_) {
        if (!(weight > 0 && weight <= 1))
            throw InputError("prior contains the weight " + std::to_string(weight) +
                             "; prior weights must lie in (0, 1]");
        log_prior_.push_back(weight < 1e-300 ? -690.0 : portable_log(weight));
    }
    log_size_ = portable_log(static_cast<double>(prior_.size() < 2 ? 2 : prior_.size()));
}

void Rule::update(const double*) { throw InputError("this rule does not learn from losses"); }

void Rule::regress(const double*, double) {
    throw InputError("this rule does not learn from forecasts");
}

void Rule::reward(std::size_t, double, double, Awake) {
    throw InputError("this rule does not learn from the loss of a single expert");
}

double Rule::bound_with_shifts(std::uint64_t shifts) const {
    if (shifts > 0) return kNoBound;
    double worst = 0;
    for (std::size_t k = 0; k < size(); ++k) {
        double one = bound(k);
        if (!(one <= worst)) worst = one;
    }
    return worst;
}

double Rule::bound_to_combination(const double* u) const {
    double total = 0, sum = 0;
    for (std::size_t k = 0; k < size(); ++k) {
        if (!(u[k] >= -1e-9)) return kNoBound;
        sum += u[k];
        if (u[k] > 0) total += u[k] * bound(k);
    }
    return std::fabs(sum - 1) < 1e-6 ? total : kNoBound;
}

std::unique_ptr<Rule> make_rule(const RuleSetup& setup) {
    const std::string& name = setup.name;
    if (name == "ewa" && !setup.grid.empty()) return std::make_unique<GridWeights>(setup);
    if (name == "ewa") return std::make_unique<ExponentialWeights>(setup);
    if (name == "adahedge") return std::make_unique<AdaHedge>(setup);
    if (name == "squint") return std::make_unique<Squint>(setup);
    if (name == "fixed-share") return std::make_unique<FixedShare>(setup);
    if (name == "ml-poly") return std::make_unique<MLPoly>(setup);
    if (name == "ml-prod") return std::make_unique<MLProd>(setup);
    if (name == "boa") return std::make_unique<BOA>(setup);
    if (name == "ridge") return std::make_unique<OnlineRidge>(setup);
    if (name == "ogd") return std::make_unique<OnlineGradientDescent>(setup);
    if (name == "ftrl") return std::make_unique<RegularisedLeader>(setup);
    if (name == "exp3") return std::make_unique<Exp3>(setup);
    if (name == "exp3-ix") return std::make_unique<Exp3IX>(setup);
    if (name == "ftl") return std::make_unique<FollowTheLeader>(setup);
    throw InputError("rule='" + name +
                     "' is unknown; pass 'ewa', 'adahedge', 'squint', 'fixed-share', 'ml-poly', "
                     "'ml-prod', 'boa', 'ridge', 'ogd', 'ftrl', 'exp3', 'exp3-ix' or 'ftl'");
}

}  // namespace bosquet
