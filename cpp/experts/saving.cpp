// What a mixture knows, written out and read back.
#include <cmath>

#include "base/error.hpp"
#include "experts/mixture.hpp"

namespace bosquet {

void Totals::visit(StateVisitor& visitor) {
    visitor.count("rows", rows);
    visitor.count("updates", updates);
    visitor.count("blind", blind);
    visitor.number("loss", loss, kAnyNumber);
    visitor.number("expected", expected, kAnyNumber);
    visitor.number("uniform", uniform, kAnyNumber);
    visitor.number("error_squares", squares);
    visitor.number("uniform_squares", uniform_squares);
    visitor.number("percents", percents);
    visitor.number("uniform_percents", uniform_percents);
    visitor.number("widest", widest);
    visitor.numbers("regret_to_experts", regret);
    visitor.numbers("expert_loss", expert_loss);
    visitor.numbers("awake_rows", awake, 0);
    visitor.numbers("played", played);
}

namespace {

// Weights are finite; those of a mean are not negative, and add up to 1.
void check_weights(const std::vector<double>& weights, bool of_a_mean) {
    constexpr double kRounding = 1e-9;
    double sum = 0;
    for (double weight : weights) {
        if (!std::isfinite(weight)) throw InputError("the state gives weights that are not finite");
        if (of_a_mean && weight < 0) throw InputError("the state gives weights below 0");
        sum += weight;
    }
    if (of_a_mean && !(std::abs(sum - 1) <= kRounding))
        throw InputError("the state gives weights that do not add up to 1");
}

}  // namespace

ExpertMixture::ExpertMixture(const ExpertMixture& other) : ExpertMixture(other.setup_) {
    restore(other.state());
    rows_ = other.rows_;
    for (Row& row : rows_) row.forecasts = row.owned.data();
    open_rows_ = other.open_rows_;
}

StateFields ExpertMixture::state() const {
    StateWriter writer;
    Totals(totals_).visit(writer);  // a visitor may write, though this one only reads
    std::size_t of_totals = writer.fields.size();
    rule_->visit(writer);
    for (std::size_t i = of_totals; i < writer.fields.size(); ++i)
        writer.fields[i].first.insert(0, "rule.");
    return writer.fields;
}

void ExpertMixture::restore(const StateFields& fields) {
    StateFields of_totals, of_rule;
    for (const auto& [name, values] : fields) {
        bool rule = name.starts_with("rule.");
        (rule ? of_rule : of_totals).emplace_back(rule ? name.substr(5) : name, values);
    }
    Totals totals = totals_;
    std::unique_ptr<Rule> rule = make_rule(setup_.rule);
    StateReader total_reader(of_totals), rule_reader(of_rule);
    totals.visit(total_reader);
    rule->visit(rule_reader);
    if (total_reader.fields_read() + rule_reader.fields_read() != fields.size())
        throw InputError("the state has fields that the rule does not know");
    std::vector<double> p(experts_);
    rule->weights(nullptr, p.data());
    check_weights(p, rule->feedback() != Feedback::regression);
    totals_ = std::move(totals);
    rule_ = std::move(rule);
    rows_.clear();
    open_rows_ = 0;
}

}  // namespace bosquet
