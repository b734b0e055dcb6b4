#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/parts.hpp"
#include "bind/vectors.hpp"
#include "losses/loss.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

// Targets have shape (n_targets, n_rows), raw predictions (n_outputs, n_rows) or nullptr. Weights
// may be empty or nullptr.
LossData data_of(const Loss& loss, const DoubleMatrix& target, const DoubleMatrix* raw,
                 const DoubleArray* weight) {
    std::size_t rows = target.shape(1);
    if (target.shape(0) != loss.targets() ||
        (raw != nullptr && (raw->shape(0) != loss.outputs() || raw->shape(1) != rows)))
        throw InputError("target has shape " + shape_text(target) +
                         (raw != nullptr ? " and raw " + shape_text(*raw) : "") +
                         ", but the loss needs shapes (n_targets, n_rows) and (n_outputs, n_rows) "
                         "with n_targets=" +
                         std::to_string(loss.targets()) +
                         " and n_outputs=" + std::to_string(loss.outputs()));
    bool weighted = weight != nullptr && weight->shape(0) != 0;
    if (weighted) check_weights({weight->data(), weight->shape(0)}, rows);
    loss.check_classes({target.data(), target.size()});
    check_finite({target.data(), target.size()}, "targets");
    if (raw != nullptr) check_finite({raw->data(), raw->size()}, "raw predictions");
    return {.rows = rows,
            .stride = rows,
            .target = target.data(),
            .weight = weighted ? weight->data() : nullptr,
            .raw = raw != nullptr ? raw->data() : nullptr};
}

const char* name_of(Targets targets) {
    switch (targets) {
        case Targets::any:
            return "any";
        case Targets::non_negative:
            return "non_negative";
        case Targets::positive:
            return "positive";
        default:
            return "two_classes";
    }
}

nb::dict traits_of(const LossTraits& loss) {
    nb::dict result;
    result["name"] = nb::str(loss.name.data(), loss.name.size());
    result["targets"] = name_of(loss.targets);
    result["scale"] = loss.scale == RawScale::target ? "target" : "unitless";
    result["parameter"] = nb::none();
    if (loss.has_parameter())
        result["parameter"] = nb::make_tuple(loss.parameter.low, loss.parameter.high);
    result["uses_newton_steps"] = loss.uses_newton_steps;
    result["constant_hessian"] = loss.constant_hessian;
    return result;
}

}  // namespace

void bind_losses(nb::module_& module) {
    module.def(
        "all_losses",
        [] {
            nb::list result;
            for (const LossTraits& loss : all_losses()) result.append(traits_of(loss));
            return result;
        },
        "Return the declarations of all losses, one dict per loss: its name, the accepted targets "
        "(any, non_negative, positive, two_classes), the scale of its raw predictions (target, "
        "unitless), the open interval of its parameter or None, and what boosting may assume about "
        "it.");
    nb::class_<Loss>(module, "Loss", "A loss with its derivatives.")
        .def(nb::init<const std::string&, std::uint32_t, std::uint32_t, std::vector<double>>(),
             nb::arg("name"), nb::arg("outputs"), nb::arg("targets"), nb::arg("parameters"))
        .def_prop_ro("outputs", &Loss::outputs)
        .def_prop_ro("uses_newton_steps", &Loss::uses_newton_steps)
        .def(
            "start_round",
            [](Loss& self, DoubleMatrix target, DoubleMatrix raw, DoubleArray weight) {
                self.start_round(data_of(self, target, &raw, &weight));
            },
            nb::arg("target"), nb::arg("raw"), nb::arg("weight"),
            "Set the parameters that the loss derives from the residuals before a round.")
        .def(
            "value",
            [](const Loss& self, DoubleMatrix target, DoubleMatrix raw, DoubleArray weight) {
                LossData data = data_of(self, target, &raw, &weight);
                LongCall call;
                std::vector<double> losses(data.rows);
                self.values(data, {0, data.rows}, best_isa(), losses.data());
                return data.sum([&](std::size_t i) { return losses[i]; });
            },
            nb::arg("target"), nb::arg("raw"), nb::arg("weight"),
            "Return the weighted sum of the losses of all rows.")
        .def(
            "gradient_hessian",
            [](const Loss& self, DoubleMatrix target, DoubleMatrix raw, const std::string& isa) {
                LossData data = data_of(self, target, &raw, nullptr);
                std::size_t size = raw.shape(0) * raw.shape(1);
                std::vector<GradientPair> pairs(size);
                self.gradients(data, {0, data.rows}, parse_isa(isa), pairs.data());
                float *g, *h;
                auto gradient = new_array<float>({raw.shape(0), raw.shape(1)}, &g);
                auto hessian = new_array<float>({raw.shape(0), raw.shape(1)}, &h);
                for (std::size_t i = 0; i < size; ++i) {
                    g[i] = pairs[i].g;
                    h[i] = pairs[i].h;
                }
                return nb::make_tuple(gradient, hessian);
            },
            nb::arg("target"), nb::arg("raw"), nb::arg("isa") = "auto",
            "Return gradients and Hessians with respect to the raw predictions, shape (n_outputs, "
            "n_rows).")
        .def(
            "responses",
            [](const Loss& self, DoubleMatrix raw, const std::string& isa) {
                if (raw.shape(1) != self.outputs())
                    throw InputError("raw has shape " + shape_text(raw) +
                                     ", but must have shape (n_rows, n_outputs) with n_outputs=" +
                                     std::to_string(self.outputs()));
                double* out;
                auto result = new_array<double>({raw.shape(0), self.response_size()}, &out);
                self.responses(raw.data(), raw.shape(0), parse_isa(isa), out);
                return result;
            },
            nb::arg("raw"), nb::arg("isa") = "auto",
            "Convert raw predictions of shape (n_rows, n_outputs) to the scale of the target: "
            "means, quantiles (sorted by their levels) or class probabilities.")
        .def(
            "best_constants",
            [](const Loss& self, DoubleMatrix target, DoubleArray weight,
               std::optional<DoubleMatrix> raw, const OwnedPart* part) {
                LossData data = data_of(self, target, raw ? &*raw : nullptr, &weight);
                if (part != nullptr) {
                    check_length(part->rows, data.rows, "part");
                    data.reducer = part->reducer.get();
                    data.all_rows = part->part.all_rows;
                }
                if (data.all_rows == 0)
                    throw InputError("target has no rows; at least one row is needed");
                std::vector<double> constants = [&] {
                    LongCall call;
                    return self.best_constants(data);
                }();
                return to_array(constants);
            },
            nb::arg("target"), nb::arg("weight"), nb::arg("raw").none() = nb::none(),
            nb::arg("part").none() = nb::none(),
            "Return for each output the constant raw prediction with the smallest loss; with raw "
            "predictions of shape (n_outputs, n_rows), the constant to add to them.");
}
