// Stumps for several classes at once.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/team.hpp"
#include "stump/stump.hpp"
#include "stump/table.hpp"

namespace bosquet {

// One class a side, for the least weighted 0-1 error; the stump's values are class numbers, of
// equally heavy classes the lowest.
Stump best_of_classes(const StumpTable& table, Team& team, std::span<const std::uint32_t> target,
                      std::uint32_t classes, std::span<const double> weight);

// One split with a sign for each class on each side, for the least sum of the classes' weighted
// errors (AdaBoost.MH); as many values a side as classes. `target` holds -1 and 1, `weight` the
// weight of each, both for all rows of a class, then the next class. For a nominal column of more
// than kEveryGrouping levels, groups are improved until no level wants to change sides, from
// several starts; all else is exact.
constexpr std::size_t kEveryGrouping = 12;
Stump best_of_signs(const StumpTable& table, Team& team, std::span<const double> target,
                    std::uint32_t classes, std::span<const double> weight);

}  // namespace bosquet
