#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "experts/mixture.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using MaybeMask = std::optional<Mask>;

std::size_t rows_of(const ExpertMixture& self, const Numbers& forecasts) {
    std::size_t per_row = self.experts() * self.width();
    if (forecasts.size() == 0 || forecasts.size() % per_row != 0)
        throw InputError("forecasts are of another number of experts than the mixture");
    return forecasts.size() / per_row;
}

Awake mask_of(const ExpertMixture& self, const MaybeMask& mask, std::size_t rows) {
    if (!mask) return nullptr;
    if (mask->size() != rows * self.experts())
        throw InputError("awake must have one entry for each forecast");
    return mask->data();
}

// Predictions of the open step: a number, or an array of (rows,), (classes,) or (rows, classes).
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

nb::object open(ExpertMixture& self, Numbers forecasts, MaybeMask mask) {
    std::size_t rows = rows_of(self, forecasts);
    self.open(forecasts.data(), mask_of(self, mask, rows), rows);
    return predictions(self);
}

nb::dict run(ExpertMixture& self, Numbers forecasts, DoubleArray truths, MaybeMask mask,
             std::size_t block, bool keep) {
    std::size_t rows = rows_of(self, forecasts), width = self.width(), experts = self.experts();
    if (truths.shape(0) != rows) throw InputError("there must be one truth for each row");
    if (block == 0) throw InputError("a block has at least one row");
    nb::dict result;
    History history;
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
    nb::gil_scoped_release release;
    self.run(forecasts.data(), awake, truths.data(), rows, block, history);
    return result;
}

nb::ndarray<nb::numpy, double> bounds(const ExpertMixture& self) {
    double* out;
    auto result = new_array<double>({self.experts()}, &out);
    for (std::size_t k = 0; k < self.experts(); ++k) out[k] = self.rule().bound(k);
    return result;
}

nb::ndarray<nb::numpy, double> weights(ExpertMixture& self, MaybeMask mask) {
    double* out;
    Awake awake = mask_of(self, mask, 1);
    bool any = awake == nullptr;
    for (std::size_t k = 0; !any && k < self.experts(); ++k) any = awake[k];
    if (!any) throw InputError("every expert is asleep");
    auto result = new_array<double>({self.experts()}, &out);
    self.weights(awake, out);
    return result;
}

nb::dict totals(const ExpertMixture& self) {
    const Totals& all = self.totals();
    nb::dict result;
    result["rows"] = all.rows;
    result["updates"] = all.updates;
    result["blind"] = all.blind;
    result["loss"] = all.loss;
    result["expected"] = all.expected;
    result["uniform"] = all.uniform;
    result["squares"] = all.squares;
    result["uniform_squares"] = all.uniform_squares;
    result["percents"] = all.percents;
    result["uniform_percents"] = all.uniform_percents;
    result["widest"] = all.widest;
    result["regret"] = to_array(all.regret);
    result["expert_loss"] = to_array(all.expert_loss);
    result["awake"] = to_array(all.awake);
    result["played"] = to_array(all.played);
    return result;
}

// Forecasts and mask of the open step, to be opened again; None if there is none.
nb::object pending(const ExpertMixture& self) {
    if (!self.is_open()) return nb::none();
    std::size_t rows = self.open_rows(), per_row = self.experts() * self.width();
    double* numbers;
    std::uint8_t* awake;
    auto forecasts = new_array<double>({rows, per_row}, &numbers);
    auto mask = new_array<std::uint8_t>({rows, self.experts()}, &awake);
    for (std::size_t i = 0; i < rows; ++i) {
        const Row& row = self.row(i);
        for (std::size_t k = 0; k < self.experts(); ++k) {
            bool is = is_awake(row.mask(), k);
            awake[i * self.experts() + k] = is;
            for (std::size_t c = 0; c < self.width(); ++c) {
                std::size_t at = k * self.width() + c;
                numbers[i * per_row + at] = is ? row.forecasts[at] : 0.0;
            }
        }
    }
    return nb::make_tuple(forecasts, mask);
}

nb::object open_weights(const ExpertMixture& self) {
    if (!self.is_open()) throw InputError("there is no open step: predict first");
    std::size_t rows = self.open_rows();
    double* out;
    auto result = new_array<double>({rows, self.experts()}, &out);
    for (std::size_t i = 0; i < rows; ++i)
        std::copy(self.row(i).weights.begin(), self.row(i).weights.end(), out + i * self.experts());
    return nb::cast(result);
}

nb::object open_predictions(const ExpertMixture& self) {
    if (!self.is_open()) throw InputError("there is no open step: predict first");
    double* out;
    auto result = new_array<double>({self.open_rows(), self.width()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        std::copy(self.row(i).prediction.begin(), self.row(i).prediction.end(),
                  out + i * self.width());
    return nb::cast(result);
}

nb::object open_chosen(const ExpertMixture& self) {
    if (!self.is_open()) throw InputError("there is no open step: predict first");
    std::int64_t* out;
    auto result = new_array<std::int64_t>({self.open_rows()}, &out);
    for (std::size_t i = 0; i < self.open_rows(); ++i)
        out[i] = static_cast<std::int64_t>(self.row(i).chosen);
    return nb::cast(result);
}

nb::dict state(ExpertMixture& self) {
    nb::dict result;
    for (const auto& [name, values] : self.state()) result[name.c_str()] = nb::cast(values);
    return result;
}

void restore(ExpertMixture& self, nb::dict fields) {
    StateFields read;
    for (auto [name, values] : fields)
        read.emplace_back(nb::cast<std::string>(name), nb::cast<std::vector<double>>(values));
    self.restore(read);
}

MixtureSetup setup_of(const std::string& rule, std::vector<double> prior, const std::string& loss,
                      nb::kwargs options) {
    MixtureSetup setup;
    setup.rule.name = rule;
    setup.rule.prior = std::move(prior);
    setup.loss = loss_of_name(loss);
    for (auto [key, value] : options) {
        auto name = nb::cast<std::string>(key);
        if (name == "range")
            setup.rule.range = nb::cast<double>(value);
        else if (name == "rate")
            setup.rule.rate = nb::cast<double>(value);
        else if (name == "grid")
            setup.rule.grid = nb::cast<std::vector<double>>(value);
        else if (name == "relative_grid")
            setup.rule.relative_grid = nb::cast<bool>(value);
        else if (name == "share")
            setup.rule.share = nb::cast<double>(value);
        else if (name == "penalty")
            setup.rule.penalty = nb::cast<double>(value);
        else if (name == "entropy")
            setup.rule.entropy = nb::cast<bool>(value);
        else if (name == "confidence")
            setup.rule.confidence = nb::cast<double>(value);
        else if (name == "quantile")
            setup.quantile = nb::cast<double>(value);
        else if (name == "classes")
            setup.classes = nb::cast<std::size_t>(value);
        else if (name == "linearised")
            setup.linearised = nb::cast<bool>(value);
        else if (name == "randomised")
            setup.randomised = nb::cast<bool>(value);
        else if (name == "seed")
            setup.seed = nb::cast<std::uint64_t>(value);
        else
            throw InputError("a mixture has no option " + name);
    }
    return setup;
}

}  // namespace

void bind_experts(nb::module_& module) {
    nb::class_<ExpertMixture>(module, "ExpertMixture", "Experts, a rule that weighs them, a loss.")
        .def(
            "__init__",
            [](ExpertMixture* self, const std::string& rule, std::vector<double> prior,
               const std::string& loss, nb::kwargs options) {
                new (self) ExpertMixture(setup_of(rule, std::move(prior), loss, options));
            },
            nb::arg("rule"), nb::arg("prior"), nb::arg("loss"), nb::arg("options"))
        .def_prop_ro("n_experts", &ExpertMixture::experts)
        .def_prop_ro("is_open", &ExpertMixture::is_open)
        .def_prop_ro("open_rows", &ExpertMixture::open_rows)
        .def_prop_ro("in_range", &ExpertMixture::in_range)
        .def_prop_ro("bandit", &ExpertMixture::bandit)
        .def_prop_ro("draws", &ExpertMixture::draws)
        .def_prop_ro("rate", [](const ExpertMixture& self) { return self.rule().rate(); })
        .def_prop_ro("totals", &totals)
        .def("open", &open, nb::arg("forecasts"), nb::arg("awake") = nb::none(),
             "Predict from a step's forecasts, and wait for its truth.")
        .def("open_weights", &open_weights, "The weights of the open step, a row each.")
        .def("open_predictions", &open_predictions, "Its predictions, a row each.")
        .def("open_chosen", &open_chosen, "The experts that it follows, where they are drawn.")
        .def(
            "close", [](ExpertMixture& self, double truth) { self.close(&truth, 1); },
            nb::arg("truth"), "Learn from the truth of the open step.")
        .def(
            "close_block",
            [](ExpertMixture& self, DoubleArray truths) {
                self.close(truths.data(), truths.shape(0));
            },
            nb::arg("truths"))
        .def(
            "close_judged",
            [](ExpertMixture& self, DoubleMatrix losses, DoubleArray own, DoubleArray uniform,
               DoubleArray excess) {
                std::size_t rows = losses.shape(0);
                if (losses.shape(1) != self.experts() || excess.shape(0) != self.experts() ||
                    own.shape(0) != rows || uniform.shape(0) != rows)
                    throw InputError("the losses do not have the shape of the step");
                self.close_judged(losses.data(), own.data(), uniform.data(), excess.data(), rows);
            },
            nb::arg("losses"), nb::arg("own"), nb::arg("uniform"), nb::arg("excess"),
            "Learn from losses that the caller has computed.")
        .def("close_bandit", &ExpertMixture::close_bandit, nb::arg("loss"),
             "Learn from the loss of the expert that was drawn.")
        .def("run", &run, nb::arg("forecasts"), nb::arg("truths"), nb::arg("awake"),
             nb::arg("block"), nb::arg("keep"), "Open and close many steps, `block` rows each.")
        .def(
            "predict",
            [](ExpertMixture& self, Numbers forecasts, MaybeMask mask) {
                std::size_t rows = rows_of(self, forecasts), width = self.width();
                double* out;
                auto result = new_array<double>({rows, width}, &out);
                self.predict(forecasts.data(), mask_of(self, mask, rows), rows, out);
                return result;
            },
            nb::arg("forecasts"), nb::arg("awake") = nb::none(),
            "What the present weights say of each row.")
        .def("weights", &weights, nb::arg("awake") = nb::none())
        .def("bounds", &bounds, "What the regret to each expert cannot exceed.")
        .def(
            "bound_with_shifts",
            [](const ExpertMixture& self, std::uint64_t shifts) {
                return self.rule().bound_with_shifts(shifts);
            },
            nb::arg("shifts"))
        .def(
            "bound_to_combination",
            [](const ExpertMixture& self, DoubleArray u) {
                if (u.shape(0) != self.experts())
                    throw InputError("one weight an expert is needed");
                return self.rule().bound_to_combination(u.data());
            },
            nb::arg("weights"))
        .def("pending", &pending)
        .def("state", &state, "Everything learned, by name.")
        .def("restore", &restore, nb::arg("fields"));
}
