// Orders the categories of a column by the first principal component of their class shares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cart/code_sums.hpp"

namespace bosquet {

// Returns for each entry in `order` its score on the first principal component of the class shares,
// where each category is weighted by its weight.
template <class Sums>
std::vector<double> first_component(const Sums& sums, const CodeSums<Sums>& code_sums,
                                    const std::vector<std::uint32_t>& order) {
    std::size_t width = sums.width();
    std::vector<double> mean(width), shares(code_sums.size() * width);
    double total = 0;
    for (std::uint32_t entry : order) {
        double weight = sums.weight(code_sums.sums_of_entry(entry));
        total += weight;
        for (std::size_t k = 0; k < width; ++k) {
            shares[entry * width + k] = code_sums.sums_of_entry(entry)[k] / weight;
            mean[k] += code_sums.sums_of_entry(entry)[k];
        }
    }
    for (double& m : mean) m /= total;
    // Power iteration with a fixed number of steps, so that the bits are reproducible.
    std::vector<double> axis(width), next(width), score(code_sums.size());
    for (std::size_t k = 0; k < width; ++k) axis[k] = 1.0 / (1.0 + static_cast<double>(k));
    for (int round = 0; round < 50; ++round) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::uint32_t entry : order) {
            double along = 0, weight = sums.weight(code_sums.sums_of_entry(entry));
            for (std::size_t k = 0; k < width; ++k)
                along += (shares[entry * width + k] - mean[k]) * axis[k];
            score[entry] = along;
            for (std::size_t k = 0; k < width; ++k)
                next[k] += weight * along * (shares[entry * width + k] - mean[k]);
        }
        double size = 0;
        for (double x : next) size += x * x;
        if (!(size > 0)) break;
        for (std::size_t k = 0; k < width; ++k) axis[k] = next[k] / std::sqrt(size);
    }
    return score;
}

}  // namespace bosquet
