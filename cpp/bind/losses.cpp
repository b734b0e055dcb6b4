#include <nanobind/stl/string.h>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "losses/loss.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

// Targets and raw predictions, if there are any, come as (targets, rows) and (outputs, rows);
// weights may be empty.
LossData data_of(const Loss& loss, const DoubleMatrix& target, const DoubleMatrix* raw,
                 const DoubleArray* weight) {
    std::size_t rows = target.shape(1);
    if (target.shape(0) != loss.targets() ||
        (raw != nullptr && (raw->shape(0) != loss.outputs() || raw->shape(1) != rows)))
        throw InputError("targets and raw predictions do not have the loss's shape");
    bool weighted = weight != nullptr && weight->shape(0) != 0;
    if (weighted) check_weights({weight->data(), weight->shape(0)}, rows);
    loss.check_classes({target.data(), target.size()});
    check_finite({target.data(), target.size()}, "targets");
    if (raw != nullptr) check_finite({raw->data(), raw->size()}, "raw predictions");
    return {rows, rows, target.data(), weighted ? weight->data() : nullptr,
            raw != nullptr ? raw->data() : nullptr};
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
    result["curved"] = loss.curved;
    result["constant_hessian"] = loss.constant_hessian;
    return result;
}

}  // namespace

void bind_loss(nb::module_& module) {
    module.def(
        "all_losses",
        [] {
            nb::list result;
            for (const LossTraits& loss : all_losses()) result.append(traits_of(loss));
            return result;
        },
        "What each loss states of itself, one dict per loss: its name, the targets it accepts "
        "(any, "
        "non_negative, positive, two_classes), the scale of its raw predictions (target, "
        "unitless), the open interval of its parameter or None, and what boosting may assume.");
    nb::class_<Loss>(module, "Loss", "A loss with its derivatives, in the core.")
        .def(nb::init<const std::string&, std::uint32_t, std::uint32_t, std::vector<double>>(),
             nb::arg("name"), nb::arg("outputs"), nb::arg("targets"), nb::arg("parameters"))
        .def_prop_ro("outputs", &Loss::outputs)
        .def_prop_ro("curved", &Loss::curved)
        .def(
            "start_round",
            [](Loss& self, DoubleMatrix target, DoubleMatrix raw, DoubleArray weight) {
                self.start_round(data_of(self, target, &raw, &weight));
            },
            nb::arg("target"), nb::arg("raw"), nb::arg("weight"))
        .def(
            "value",
            [](const Loss& self, DoubleMatrix target, DoubleMatrix raw, DoubleArray weight) {
                LossData data = data_of(self, target, &raw, &weight);
                LongCall call;
                return self.value(data, {0, data.rows}, best_isa());
            },
            nb::arg("target"), nb::arg("raw"), nb::arg("weight"), "Sum of weight times loss.")
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
            nb::arg("target"), nb::arg("raw"), nb::arg("isa") = "auto")
        .def(
            "responses",
            [](const Loss& self, DoubleMatrix raw, const std::string& isa) {
                if (raw.shape(1) != self.outputs())
                    throw InputError("raw predictions do not have the loss's outputs");
                double* out;
                auto result = new_array<double>({raw.shape(0), self.response_size()}, &out);
                self.responses(raw.data(), raw.shape(0), parse_isa(isa), out);
                return result;
            },
            nb::arg("raw"), nb::arg("isa") = "auto",
            "What raw predictions (rows, outputs) say of the target: means, quantiles, or the "
            "probabilities of the classes.")
        .def(
            "best_constants",
            [](const Loss& self, DoubleMatrix target, DoubleArray weight) {
                LossData data = data_of(self, target, nullptr, &weight);
                if (data.rows == 0) throw InputError("there are no rows");
                std::vector<double> constants = [&] {
                    LongCall call;
                    return self.best_constants(data);
                }();
                return to_array(constants);
            },
            nb::arg("target"), nb::arg("weight"));
}
