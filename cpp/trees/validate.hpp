// Whether an ensemble can be relied on: what prediction takes for granted, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trees/tree.hpp"

namespace bosquet {

constexpr std::uint32_t kMaxTreeNodes = 0x7fffffff;  // node numbers are given out as signed 32 bits
constexpr std::uint32_t kMaxCategories = 65'535;     // codes take two bytes, with one for missing

// What is wrong with the ensemble, in words; nothing if it is sound.
std::optional<std::string> find_fault(const Ensemble& ensemble);

// The same for one tree, which is to become one of the ensemble's.
std::optional<std::string> find_fault(const Ensemble& ensemble, const Tree& tree);

// Whether every leaf holds shares of classes, with the base 0: of each target as many as it has
// classes, none below 0, with the sum 1. Of one target with two classes a leaf may hold the share
// of the second alone.
bool holds_shares(const Ensemble& ensemble, std::span<const std::uint32_t> classes);

// For each output a bound on the size of what is predicted: that of the base and of each tree's
// largest leaf.
std::vector<double> reach(const Ensemble& ensemble);

}  // namespace bosquet
