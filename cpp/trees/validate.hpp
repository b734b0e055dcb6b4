// Checks the properties of an ensemble that prediction relies on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trees/tree.hpp"

namespace bosquet {

// Node numbers are returned as signed 32-bit integers.
constexpr std::uint32_t kMaxTreeNodes = 0x7fffffff;
// Codes have two bytes, one code is for missing values.
constexpr std::uint32_t kMaxCategories = 65'535;

// A description of the first fault of the ensemble; nullopt if it is valid.
std::optional<std::string> find_fault(const Ensemble& ensemble);

// The same for one tree that is about to be added to the ensemble.
std::optional<std::string> find_fault(const Ensemble& ensemble, const Tree& tree);

// Whether the base is 0 and every leaf holds class shares: for each target one share per class,
// none negative, with sum 1. For a single target with two classes, a leaf may hold only the share
// of the second class.
bool holds_class_shares(const Ensemble& ensemble, std::span<const std::uint32_t> classes);

// For each output an upper bound of the absolute prediction: the sum of the absolute base and of
// the largest absolute leaf of each tree.
std::vector<double> max_absolute_prediction(const Ensemble& ensemble);

}  // namespace bosquet
