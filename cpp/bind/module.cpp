// The Python module of the native core: everything that Python sees of it.
#include <nanobind/nanobind.h>

#include <typeinfo>

#include "base/error.hpp"
#include "base/isa.hpp"
#include "bind/bindings.hpp"
#include "bind/long_call.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
    // A model that is still alive when the interpreter ends is not a leak that deserves warnings.
    nb::set_leak_warnings(false);
    module.doc() = "Native core of bosquet: binning, losses, tree growing, boosting, prediction.";
    nb::exception<bosquet::InputError>(module, "InputError", PyExc_ValueError);
    nb::exception<bosquet::ModelFileError>(module, "ModelFileError", PyExc_ValueError);
    // A failed conversion inside a function, of a value that no check describes.
    nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
        try {
            std::rethrow_exception(failure);
        } catch (const std::bad_cast&) {
            PyErr_SetString(PyExc_TypeError,
                            "an argument has a type that the core does not accept");
        }
    });
    module.def(
        "best_isa",
        [] {
            switch (bosquet::best_isa()) {
                case bosquet::Isa::avx512:
                    return "avx512";
                case bosquet::Isa::avx2:
                    return "avx2";
                default:
                    return "baseline";
            }
        },
        "Return the best instruction set of this processor, which isa='auto' selects.");
    bind_shutdown();
    bind_data(module);
    bind_target_statistics(module);
    bind_losses(module);
    bind_trees(module);
    bind_parts(module);
    bind_boosting(module);
    bind_cart(module);
    bind_forest(module);
    bind_stump(module);
    bind_experts(module);
    bind_explain(module);
    bind_vision_features(module);
    bind_io(module);
    bind_vision_detect(module);
}
