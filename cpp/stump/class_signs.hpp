// Stumps with one sign per class on each side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel/team.hpp"
#include "stump/stump.hpp"
#include "stump/table.hpp"

namespace bosquet {

// The split with a sign per class and side and the smallest sum of the weighted errors of all
// classes (AdaBoost.MH); it has one value per class and side. `target` holds -1 and 1, `weight` the
// weights; both hold all rows of a class, then the next class. For a categorical column with more
// than kExhaustiveLevels levels, groups are improved from several starts until no level changes
// sides; everything else is exact.
constexpr std::size_t kExhaustiveLevels = 12;
Stump find_best_by_signs(const StumpTable& table, Team& team, std::span<const double> target,
                         std::uint32_t classes, std::span<const double> weight);

}  // namespace bosquet
