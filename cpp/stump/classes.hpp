// Stumps with one class on each side.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/team.hpp"
#include "stump/stump.hpp"
#include "stump/table.hpp"

namespace bosquet {

// The stump with one class per side and the smallest weighted 0-1 error. Its values are class
// numbers; among equally heavy classes the lowest.
Stump find_best_by_class(const StumpTable& table, Team& team, std::span<const std::uint32_t> target,
                         std::uint32_t classes, std::span<const double> weight);

}  // namespace bosquet
