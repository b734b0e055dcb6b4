// The model file: a frame that tells what it is and whether it is whole, around a description and
// either trees or other model files. The one reader of untrusted bytes; whatever it is given, it
// returns a sound model or throws ModelFileError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/tree.hpp"

namespace bosquet {

struct ModelFile {
    Ensemble ensemble;
    std::vector<std::uint8_t> metadata;  // nothing to the core: text that its caller understands
};

std::vector<std::uint8_t> write_model(const Ensemble& ensemble,
                                      std::span<const std::uint8_t> metadata);
ModelFile read_model(std::span<const std::uint8_t> file);

using Bytes = std::span<const std::uint8_t>;

// A model made of others: each part is a whole model file, of either kind.
struct ModelParts {
    std::vector<Bytes> parts;  // where they lie in the file
    Bytes metadata;
};

std::vector<std::uint8_t> write_parts(std::span<const Bytes> parts, Bytes metadata);
ModelParts read_parts(Bytes file);
// Which of the two readers to give a file to; checks no more than it needs to tell.
bool holds_parts(Bytes file);

}  // namespace bosquet
