#include <span>

#include "bind/bindings.hpp"
#include "io/checksum.hpp"
#include "io/model_file.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

std::span<const std::uint8_t> bytes_of(const nb::bytes& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

nb::bytes to_bytes(const std::vector<std::uint8_t>& bytes) {
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void bind_io(nb::module_& module) {
    module.def(
        "write_model",
        [](const Ensemble& ensemble, nb::bytes metadata) {
            return to_bytes(write_model(ensemble, bytes_of(metadata)));
        },
        nb::arg("ensemble"), nb::arg("metadata"),
        "The model as a file; the same model, the same bytes.");
    module.def(
        "read_model",
        [](nb::bytes file) {
            ModelFile model = read_model(bytes_of(file));
            return nb::make_tuple(nb::cast(std::move(model.ensemble)), to_bytes(model.metadata));
        },
        nb::arg("file"),
        "The ensemble and the metadata of a model file; ModelFileError if it is not a sound one.");
    module.def(
        "checksum", [](nb::bytes bytes) { return checksum(bytes_of(bytes)); }, nb::arg("bytes"),
        "CRC-64/XZ, the checksum of model files.");
}
