
#include <span>

#include "bind/bindings.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "io/checksum.hpp"
#include "io/model_file.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

nb::bytes to_bytes(Bytes bytes) {
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void bind_io(nb::module_& module) {
    module.def(
        "write_model",
        [](const Ensemble& ensemble, nb::bytes metadata) {
            auto file = [&] {
                LongCall call;
                return write_model(ensemble, bytes_of(metadata));
            }();
            return to_bytes(file);
        },
        nb::arg("ensemble"), nb::arg("metadata"),
        "Return the bytes of a model file. The same model gives the same bytes.");
    module.def(
        "read_model",
        [](nb::bytes file) {
            ModelFile model = [&] {
                LongCall call;
                return read_model(bytes_of(file));
            }();
            return nb::make_tuple(nb::cast(std::move(model.ensemble)), to_bytes(model.metadata));
        },
        nb::arg("file"),
        "Return the ensemble and the metadata of a model file. Raise ModelFileError if it is "
        "invalid.");
    module.def(
        "write_parts",
        [](const std::vector<nb::bytes>& parts, nb::bytes metadata) {
            std::vector<Bytes> spans;
            for (const nb::bytes& part : parts) spans.push_back(bytes_of(part));
            return to_bytes(write_parts(spans, bytes_of(metadata)));
        },
        nb::arg("parts"), nb::arg("metadata"),
        "Return the bytes of a file with several models; each part holds the bytes of a model "
        "file.");
    module.def(
        "read_parts",
        [](nb::bytes file) {
            ModelParts found = read_parts(bytes_of(file));
            nb::list parts;
            for (Bytes part : found.parts) parts.append(to_bytes(part));
            return nb::make_tuple(parts, to_bytes(found.metadata));
        },
        nb::arg("file"),
        "Return the parts and the metadata of a file with several models. Raise ModelFileError if "
        "it is invalid.");
    module.def(
        "holds_parts", [](nb::bytes file) { return holds_parts(bytes_of(file)); }, nb::arg("file"),
        "Return whether read_parts reads the file. Otherwise it is for read_model or not a model "
        "file.");
    module.def(
        "checksum",
        [](nb::bytes bytes) {
            LongCall call;
            return checksum(bytes_of(bytes));
        },
        nb::arg("bytes"), "Return the CRC-64/XZ checksum, as used in model files.");
}
