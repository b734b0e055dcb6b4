// Saves and restores the state of a mixture.
#include <cmath>

#include "base/error.hpp"
#include "experts/mixture.hpp"

namespace bosquet {

void MixtureTotals::visit(StateVisitor& visitor) {
    visitor.count("rows", rows);
    visitor.count("updates", updates);
    visitor.count("bandit_rows", bandit_rows);
    visitor.number("loss", loss, kAnyNumber);
    visitor.number("expected_loss", expected_loss, kAnyNumber);
    visitor.number("uniform_loss", uniform_loss, kAnyNumber);
    visitor.number("squared_error", squared_error);
    visitor.number("uniform_squared_error", uniform_squared_error);
    visitor.number("relative_error", relative_error);
    visitor.number("uniform_relative_error", uniform_relative_error);
    visitor.number("largest_spread", largest_spread);
    visitor.numbers("regret", regret);
    visitor.numbers("expert_loss", expert_loss);
    visitor.numbers("awake_rows", awake_rows, 0);
    visitor.numbers("weight_sum", weight_sum);
}

namespace {

// Weights must be finite; convex weights must also be non-negative and sum to 1.
void check_weights(const std::vector<double>& weights, bool convex) {
    constexpr double kRounding = 1e-9;
    double sum = 0;
    for (double weight : weights) {
        if (!std::isfinite(weight))
            throw InputError("the state is invalid: it gives weights that are not finite");
        if (convex && weight < 0)
            throw InputError("the state is invalid: it gives negative weights");
        sum += weight;
    }
    if (convex && !(std::abs(sum - 1) <= kRounding))
        throw InputError("the state is invalid: it gives weights that do not sum to 1");
}

}  // namespace

ExpertMixture::ExpertMixture(const ExpertMixture& other) : ExpertMixture(other.setup_) {
    restore(other.state());
    rows_ = other.rows_;
    for (ForecastRow& row : rows_) row.forecasts = row.owned.data();
    open_rows_ = other.open_rows_;
}

StateFields ExpertMixture::state() const {
    StateWriter writer;
    MixtureTotals(totals_).visit(
        writer);  // a copy, because visitors may write; this one only reads
    std::size_t n_totals = writer.fields.size();
    rule_->visit(writer);
    for (std::size_t i = n_totals; i < writer.fields.size(); ++i)
        writer.fields[i].first.insert(0, "rule.");
    return writer.fields;
}

void ExpertMixture::restore(const StateFields& fields) {
    StateFields totals_fields, rule_fields;
    for (const auto& [name, values] : fields) {
        bool rule = name.starts_with("rule.");
        (rule ? rule_fields : totals_fields).emplace_back(rule ? name.substr(5) : name, values);
    }
    MixtureTotals totals = totals_;
    std::unique_ptr<Rule> rule = make_rule(setup_.rule);
    StateReader total_reader(totals_fields), rule_reader(rule_fields);
    totals.visit(total_reader);
    rule->visit(rule_reader);
    if (total_reader.fields_read() + rule_reader.fields_read() != fields.size())
        throw InputError("the state is invalid: it has fields that this rule does not have");
    std::vector<double> p(experts_);
    rule->weights(nullptr, p.data());
    check_weights(p, rule->feedback() != Feedback::regression);
    totals_ = std::move(totals);
    rule_ = std::move(rule);
    rows_.clear();
    open_rows_ = 0;
}

}  // namespace bosquet
