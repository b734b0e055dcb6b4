#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "experts/mixture.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using OptionalMask = std::optional<Mask>;

// A mixture that rejects a second call while one is running.
struct Mixture : ExpertMixture {
    using ExpertMixture::ExpertMixture;
    explicit Mixture(const ExpertMixture& other) : ExpertMixture(other) {}
    std::atomic<bool> in_use = false;
};

// Wraps a function so that it is rejected while another call uses the mixture: `run` releases the
// GIL.
template <auto Function>
struct Guarded;
template <class Result, class Self, class... Arguments, Result (*Function)(Self&, Arguments...)>
struct Guarded<Function> {
    static Result call(Mixture& self, Arguments... arguments) {
        InUse guard(self.in_use, "the mixture");
        return Function(self, std::forward<Arguments>(arguments)...);
    }
};
template <auto Function>
constexpr auto guarded = Guarded<Function>::call;

std::size_t rows_of(const ExpertMixture& self, const Numbers& forecasts) {
    std::size_t per_row = self.experts() * self.width();
    if (forecasts.size() == 0 || forecasts.size() % per_row != 0)
        throw InputError("forecasts has " + std::to_string(forecasts.size()) +
                         " entries, but must have a positive multiple of " +
                         std::to_string(per_row) + " (n_experts times the numbers per forecast)");
    return forecasts.size() / per_row;
}

Awake mask_of(const ExpertMixture& self, const OptionalMask& mask, std::size_t rows) {
    if (!mask) return nullptr;
    if (mask->size() != rows * self.experts())
        throw InputError("awake has " + std::to_string(mask->size()) +
                         " entries, but must have shape (n_rows, n_experts) = (" +
                         std::to_string(rows) + ", " + std::to_string(self.experts()) + ")");
    return mask->data();
}

// Returns the predictions of the open step: a float, or an array of shape (n_rows,), (n_classes,)
// or (n_rows, n_classes).
nb::object predictions(const ExpertMixture& self) {
    std::size_t rows = self.open_rows(), width = self.width();
    if (rows == 1 && width == 1) return nb::float_(self.row(0).prediction[0]);
    double* out;
    std::vector<std::size_t> shape;
    if (rows > 1) shape.push_back(rows);
    if (width > 1) shape.push_back(width);
    auto result = new_array<double>(shape, &out);
    for (std::size_t i = 0; i < rows; ++i)
        std::copy(self.row(i).prediction.begin(), self.row(i).prediction.end(), out + i * width);
    return nb::cast(result);
}

nb::object open_step(ExpertMixture& self, Numbers forecasts, OptionalMask mask) {
    std::size_t rows = rows_of(self, forecasts);
    self.open(forecasts.data(), mask_of(self, mask, rows), rows);
    return predictions(self);
}

nb::dict run(ExpertMixture& self, Numbers forecasts, DoubleArray truths, OptionalMask mask,
             std::size_t block, bool keep) {
    std::size_t rows = rows_of(self, forecasts), width = self.width(), experts = self.experts();
    check_length(truths.shape(0), rows, "truths");
    if (block == 0) throw InputError("block=0 is too small; a block has at least one row");
    nb::dict result;
    MixtureHistory history;
    if (keep) {
        std::vector<std::size_t> shape{rows};
        if (width > 1) shape.push_back(width);
        result["weights"] = new_array<double>({rows, experts}, &history.weights);
        result["predictions"] = new_array<double>(shape, &history.predictions);
        result["losses"] = new_array<double>({rows}, &history.losses);
        result["expert_losses"] = new_array<double>({rows, experts}, &history.expert_losses);
        result["bounds"] = new_array<double>({rows}, &history.bounds);
        if (self.draws()) result["chosen"] = new_array<std::int64_t>({rows}, &history.chosen);
    }
    Awake awake = mask_of(self, mask, rows);
    LongCall call;
    self.run(forecasts.data(), awake, truths.data(), rows, block, history);
    return result;
}

nb::ndarray<nb::numpy, double> bounds(const ExpertMixture& self) {
    double* out;
    auto result = new_array<double>({self.experts()}, &out);
    for (std::size_t k = 0; k < self.experts(); ++k) out[k] = self.rule().bound(k);
    return result;
}

nb::ndarray<nb::numpy, double> weights(ExpertMixture& self, OptionalMask mask) {
    double* out;
    Awake awake = mask_of(self, mask, 1);
    bool any = awake == nullptr;
    for (std::size_t k = 0; !any && k < self.experts(); ++k) any = awake[k];
    if (!any) throw InputError("awake is False for every expert; at least one must be awake");
    auto result = new_array<double>({self.experts()}, &out);
    self.weights(awake, out);
    return result;
}

nb::dict totals(const ExpertMixture& self) {
    const MixtureTotals& all = self.totals();
    nb::dict result;
    result["rows"] = all.rows;
    result["updates"] = all.updates;
    result["bandit_rows"] = all.bandit_rows;
    result["loss"] = all.loss;
    result["expected_loss"] = all.expected_loss;
    result["uniform_loss"] = all.uniform_loss;
    result["squared_error"] = all.squared_error;
    result["uniform_squared_error"] = all.uniform_squared_error;
    result["relative_error"] = all.relative_error;
    result["uniform_relative_error"] = all.uniform_relative_error;
    result["largest_spread"] = all.largest_spread;
    result["regret"] = to_array(all.regret);
    result["expert_loss"] = to_array(all.expert_loss);
    result["awake_rows"] = to_array(all.awake_rows);
    result["weight_sum"] = to_array(all.weight_sum);
    return result;
}

void check_open(const ExpertMixture& self) {
    if (!self.is_open()) throw InputError("no step is open; call open first");
}

// Returns the forecasts of the open step, 0 for experts that are asleep. The caller can open the
// step again with them.
nb::ndarray<nb::numpy, double> open_forecasts(const ExpertMixture& self) {
    check_open(self);
    std::size_t rows = self.open_rows(), width = self.width(), per_row = self.experts() * width;
    double* out;
    auto result = new_array<double>({rows, per_row}, &out);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t at = 0; at < per_row; ++at) {
            const ForecastRow& row = self.row(i);
            out[i * per_row + at] = is_awake(row.mask(), at / width) ? row.forecasts[at] : 0.0;
        }
    return result;
}

nb::ndarray<nb::numpy, std::uint8_t> open_awake(const ExpertMixture& self) {
    check_open(self);
    std::uint8_t* out;
    auto result = new_array<std::uint8_t>({self.open_rows(), self.experts()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        for (std::size_t k = 0; k < self.experts(); ++k)
            out[i * self.experts() + k] = is_awake(self.row(i).mask(), k);
    return result;
}

nb::ndarray<nb::numpy, double> open_weights(const ExpertMixture& self) {
    check_open(self);
    double* out;
    auto result = new_array<double>({self.open_rows(), self.experts()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        std::copy(self.row(i).weights.begin(), self.row(i).weights.end(), out + i * self.experts());
    return result;
}

nb::ndarray<nb::numpy, double> open_predictions(const ExpertMixture& self) {
    check_open(self);
    double* out;
    auto result = new_array<double>({self.open_rows(), self.width()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        std::copy(self.row(i).prediction.begin(), self.row(i).prediction.end(),
                  out + i * self.width());
    return result;
}

nb::ndarray<nb::numpy, std::int64_t> open_chosen(const ExpertMixture& self) {
    check_open(self);
    std::int64_t* out;
    auto result = new_array<std::int64_t>({self.open_rows()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        out[i] = static_cast<std::int64_t>(self.row(i).chosen);
    return result;
}

nb::dict state(const ExpertMixture& self) {
    nb::dict result;
    for (const auto& [name, values] : self.state()) result[name.c_str()] = nb::cast(values);
    return result;
}

void restore(ExpertMixture& self, nb::dict given) {
    nb::dict fields;  // a copy: reading a value may run Python code that changes the dict
    fields.update(given);
    StateFields read;
    for (auto [name, values] : fields) {
        auto field =
            cast_to<std::string>(name, "the name of a field", "a str that can be encoded as UTF-8");
        read.emplace_back(
            field, cast_to<std::vector<double>>(values, "field " + field, "a list of numbers"));
    }
    self.restore(read);
}

void new_mixture(Mixture* self, const std::string& rule, std::vector<double> prior,
                 const std::string& loss, double range, double rate, std::vector<double> grid,
                 bool relative_grid, double share, double penalty, bool entropy, double confidence,
                 double quantile, std::size_t classes, bool linearised, bool randomised,
                 std::uint64_t seed) {
    check_between(range, 0, kLargest, "range");
    check_between(rate, 0, kLargest, "rate");
    for (double entry : grid) check_between(entry, 0, kLargest, "grid");
    check_between(share, 0, 1, "share");
    check_between(penalty, 0, kLargest, "penalty");
    check_between(confidence, 0, 1, "confidence");
    check_between(quantile, 0, 1, "quantile");
    check_at_most(classes, kMaxOutputs, "classes");
    RuleSetup rule_setup{
        rule,  std::move(prior), range,   rate,      std::move(grid), relative_grid,
        share, penalty,          entropy, confidence};
    new (self) Mixture({std::move(rule_setup), loss_of_name(loss), quantile, classes, linearised,
                        randomised, seed});
}

double rate(const ExpertMixture& self) { return self.rule().rate(); }

// A step is closed by an assignment and not by a call: Python checks for signals after a call, so
// that an interrupt could be raised although the step has been counted.
nb::object write_only(const ExpertMixture&) {
    throw nb::attribute_error("this attribute can only be assigned; assigning it closes the step");
}

void close_one(ExpertMixture& self, double truth) { self.close(&truth, 1); }

void close_block(ExpertMixture& self, DoubleArray truths) {
    self.close(truths.data(), truths.shape(0));
}

void close_with_losses(ExpertMixture& self, DoubleMatrix losses, DoubleArray mixture_loss,
                       DoubleArray uniform_loss, DoubleArray excess) {
    std::size_t rows = losses.shape(0);
    if (losses.shape(1) != self.experts() || excess.shape(0) != self.experts() ||
        mixture_loss.shape(0) != rows || uniform_loss.shape(0) != rows)
        throw InputError("losses has shape " + shape_text(losses) +
                         "; it must have shape (n_rows, n_experts), mixture_loss and uniform_loss "
                         "(n_rows,) and excess (n_experts,) with n_experts=" +
                         std::to_string(self.experts()));
    self.close_with_losses(losses.data(), mixture_loss.data(), uniform_loss.data(), excess.data(),
                           rows);
}

void close_bandit(ExpertMixture& self, double loss) { self.close_bandit(loss); }

nb::ndarray<nb::numpy, double> predict(ExpertMixture& self, Numbers forecasts, OptionalMask mask) {
    std::size_t rows = rows_of(self, forecasts), width = self.width();
    double* out;
    auto result = new_array<double>({rows, width}, &out);
    self.predict(forecasts.data(), mask_of(self, mask, rows), rows, out);
    return result;
}

double bound_with_shifts(const ExpertMixture& self, std::uint64_t shifts) {
    return self.rule().bound_with_shifts(shifts);
}

double bound_to_combination(const ExpertMixture& self, DoubleArray weights) {
    check_length(weights.shape(0), self.experts(), "weights", "expert");
    return self.rule().bound_to_combination(weights.data());
}

// Returns a copy from which another fit continues.
Mixture* copy_of(const ExpertMixture& self) { return new Mixture(self); }

}  // namespace

void bind_experts(nb::module_& module) {
    nb::class_<Mixture>(module, "ExpertMixture",
                        "An online mixture of experts: a rule that weights them, and a loss.")
        .def("__init__", new_mixture, nb::arg("rule"), nb::arg("prior"), nb::arg("loss"),
             nb::kw_only(), nb::arg("range") = 0.0, nb::arg("rate") = 0.0,
             nb::arg("grid") = std::vector<double>{}, nb::arg("relative_grid") = false,
             nb::arg("share") = 0.0, nb::arg("penalty") = 0.0, nb::arg("entropy") = false,
             nb::arg("confidence") = 0.0, nb::arg("quantile") = 0.5, nb::arg("classes") = 0,
             nb::arg("linearised") = true, nb::arg("randomised") = false, nb::arg("seed") = 0)
        .def_prop_ro("n_experts", &Mixture::experts)
        .def_prop_ro("is_open", &Mixture::is_open)
        .def_prop_ro("open_rows", &Mixture::open_rows)
        .def_prop_ro("in_range", &Mixture::in_range)
        .def_prop_ro("bandit", &Mixture::bandit)
        .def_prop_ro("draws", &Mixture::draws)
        .def_prop_ro("rate", guarded<rate>)
        .def_prop_ro("totals", guarded<totals>)
        .def("open", guarded<open_step>, nb::arg("forecasts"), nb::arg("awake").none() = nb::none(),
             "Open a step: return the predictions from its forecasts; its truth closes it.")
        .def("open_forecasts", guarded<open_forecasts>,
             "Return the forecasts of the open step, 0 for experts that are asleep.")
        .def("open_awake", guarded<open_awake>,
             "Return which experts are awake in the open step, shape (n_rows, n_experts).")
        .def("open_weights", guarded<open_weights>,
             "Return the weights of the open step, shape (n_rows, n_experts).")
        .def("open_predictions", guarded<open_predictions>,
             "Return the predictions of the open step, shape (n_rows, n_outputs).")
        .def("open_chosen", guarded<open_chosen>,
             "Return the expert drawn for each row of the open step (randomised and bandit rules).")
        .def_prop_rw("truth", guarded<write_only>, guarded<close_one>,
                     "The observed value (write-only). Assigning it closes the open step and "
                     "updates the rule.")
        .def_prop_rw("truths", guarded<write_only>, guarded<close_block>,
                     "The same for a step with several rows.")
        .def_prop_rw("bandit_loss", guarded<write_only>, guarded<close_bandit>,
                     "The same with the loss of the drawn expert (bandit feedback).")
        .def("close_with_losses", guarded<close_with_losses>, nb::arg("losses"),
             nb::arg("mixture_loss"), nb::arg("uniform_loss"), nb::arg("excess"),
             "Close the open step with losses that the caller has computed.")
        .def("run", guarded<run>, nb::arg("forecasts"), nb::arg("truths"), nb::arg("awake").none(),
             nb::arg("block"), nb::arg("keep"),
             "Open and close many steps of `block` rows each; return their history if `keep`.")
        .def("predict", guarded<predict>, nb::arg("forecasts"),
             nb::arg("awake").none() = nb::none(),
             "Return the predictions of each row with the current weights.")
        .def("weights", guarded<weights>, nb::arg("awake").none() = nb::none(),
             "Return the weights of the next step.")
        .def("bounds", guarded<bounds>,
             "Return an upper bound of the regret to each expert; NaN where none is known.")
        .def("bound_with_shifts", guarded<bound_with_shifts>, nb::arg("shifts"),
             "Return an upper bound of the regret to the best sequence of experts with that many "
             "shifts.")
        .def("bound_to_combination", guarded<bound_to_combination>, nb::arg("weights"),
             "Return an upper bound of the regret to a fixed combination of the experts.")
        .def("copy", guarded<copy_of>, "Return an independent copy, with the open step.")
        .def("state", guarded<state>,
             "Return everything that the mixture has learned, as a dict of lists.")
        .def("restore", guarded<restore>, nb::arg("fields"),
             "Set the state that state() returned.");
}
