// The ensemble section of a model file (docs/format.md).
#pragma once

#include <cstdint>
#include <span>

#include "io/bytes.hpp"
#include "trees/tree.hpp"

namespace bosquet {

void write_ensemble(const Ensemble& ensemble, ByteWriter& out);

// Reads a whole section. Throws ModelFileError unless it is a valid ensemble up to the last byte.
Ensemble read_ensemble(std::span<const std::uint8_t> section);

}  // namespace bosquet
