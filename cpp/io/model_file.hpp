// The model file: a frame that tells what it is and whether it is whole, around two sections. The
// one reader of untrusted bytes; whatever it is given, it returns a sound model or throws
// ModelFileError.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tree/tree.hpp"

namespace bosquet {

struct ModelFile {
    Ensemble ensemble;
    std::vector<std::uint8_t> metadata;  // nothing to the core: text that its caller understands
};

std::vector<std::uint8_t> write_model(const Ensemble& ensemble,
                                      std::span<const std::uint8_t> metadata);
ModelFile read_model(std::span<const std::uint8_t> file);

}  // namespace bosquet
