// The model file: a header with a signature, length and checksum, then metadata, then either trees
// or other model files. This is the only reader of untrusted bytes: for any input it returns a
// valid model or throws ModelFileError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/tree.hpp"

namespace bosquet {

struct ModelFile {
    Ensemble ensemble;
    std::vector<std::uint8_t> metadata;  // opaque to the core; the caller interprets it
};

std::vector<std::uint8_t> write_model(const Ensemble& ensemble,
                                      std::span<const std::uint8_t> metadata);
ModelFile read_model(std::span<const std::uint8_t> file);

using Bytes = std::span<const std::uint8_t>;

// A model that consists of other models: each part is a complete model file of either kind.
struct ModelParts {
    std::vector<Bytes> parts;  // views into the file
    Bytes metadata;
};

std::vector<std::uint8_t> write_parts(std::span<const Bytes> parts, Bytes metadata);
ModelParts read_parts(Bytes file);
// Whether read_parts is the reader for the file; checks only what is needed to decide.
bool holds_parts(Bytes file);

}  // namespace bosquet
