// Whether an ensemble can be relied on: what prediction takes for granted, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tree/tree.hpp"

namespace bosquet {

constexpr std::uint32_t kMaxTreeNodes = 0x7fffffff;  // node numbers are given out as signed 32 bits
constexpr std::uint32_t kMaxCategories = 65'535;     // codes take two bytes, with one for missing

// What is wrong with the ensemble, in words; nothing if it is sound.
std::optional<std::string> find_fault(const Ensemble& ensemble);

// The same for one tree, which is to become one of the ensemble's.
std::optional<std::string> find_fault(const Ensemble& ensemble, const Tree& tree);

}  // namespace bosquet
