#include "loss/loss.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "bind/bindings.hpp"

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
    if (weighted && weight->shape(0) != rows) throw InputError("weights must have one entry a row");
    if (loss.softmax())
        for (std::size_t i = 0; i < rows; ++i)
            if (!(target.data()[i] >= 0 && target.data()[i] < loss.outputs()))
                throw InputError("a class number is out of range");
    return {rows, rows, target.data(), weighted ? weight->data() : nullptr,
            raw != nullptr ? raw->data() : nullptr};
}

}  // namespace

void bind_loss(nb::module_& module) {
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
                return to_array(self.best_constants(data));
            },
            nb::arg("target"), nb::arg("weight"));
}
