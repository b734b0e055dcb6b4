#include "cart/bag.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace bosquet {

std::vector<std::uint32_t> times_drawn(std::size_t rows, std::size_t draws, bool replace,
                                       std::uint64_t key) {
    std::vector<std::uint32_t> times(rows);
    if (replace) {
        for (std::size_t i = 0; i < draws; ++i) {
            // The upper half of the product is uniform over the rows, without a division.
            auto wide = static_cast<unsigned __int128>(hash64(key, 0x626167 /* "bag" */, i)) * rows;
            ++times[static_cast<std::size_t>(wide >> 64)];
        }
    } else if (draws >= rows) {
        std::fill(times.begin(), times.end(), 1u);
    } else {
        // The rows with the smallest hashes.
        std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked(rows);
        for (std::size_t row = 0; row < rows; ++row)
            ranked[row] = {hash64(key, 0x626167, row), static_cast<std::uint32_t>(row)};
        std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(draws),
                         ranked.end());
        for (std::size_t i = 0; i < draws; ++i) times[ranked[i].second] = 1;
    }
    return times;
}

Bag draw_bag(std::size_t rows, std::size_t draws, bool replace, std::span<const double> weights,
             std::uint64_t key) {
    std::vector<std::uint32_t> times = times_drawn(rows, draws, replace, key);
    Bag bag;
    bag.rows.reserve(rows);
    bag.weights.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        double weight = times[row] * (weights.empty() ? 1.0 : weights[row]);
        if (!(weight > 0)) continue;
        bag.rows.push_back(static_cast<std::uint32_t>(row));
        bag.weights.push_back(weight);
    }
    return bag;
}

}  // namespace bosquet
