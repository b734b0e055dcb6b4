// Sums, extremes and weights over the experts. A sum uses four lanes that are added in a fixed
// order: faster than one chain of additions, with the same bits in a stream and in a batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/math.hpp"

namespace bosquet {

template <class Term>
BOSQUET_INLINE double sum_over(std::size_t n, Term term) {
    double lane[4] = {0, 0, 0, 0};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (std::size_t l = 0; l < 4; ++l) lane[l] += term(k + l);
    for (; k < n; ++k) lane[k % 4] += term(k);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

struct Extremes {
    double low, high;
    double width() const { return high - low; }
    double magnitude() const { return high > -low ? high : -low; }  // the largest absolute value
};

// The smallest and the largest of at least one value.
inline Extremes extremes(const double* values, std::size_t n) {
    Extremes found{values[0], values[0]};
    for (std::size_t k = 1; k < n; ++k) {
        found.low = values[k] < found.low ? values[k] : found.low;
        found.high = values[k] > found.high ? values[k] : found.high;
    }
    return found;
}

// Which experts may get weight at a step; nullptr if all of them may.
using Awake = const std::uint8_t*;

BOSQUET_INLINE bool is_awake(Awake awake, std::size_t k) { return awake == nullptr || awake[k]; }

// The largest value over the experts that are awake.
inline double highest(const double* values, Awake awake, std::size_t n) {
    if (awake == nullptr) return extremes(values, n).high;
    bool any = false;
    double top = 0;
    for (std::size_t k = 0; k < n; ++k)
        if (awake[k] && (!any || values[k] > top)) {
            top = values[k];
            any = true;
        }
    return top;
}

// A weight below e^-690 times the largest is set to 0, because products of denormal numbers are
// slow. The rule keeps its logarithm, so that the expert can regain weight.
constexpr double kMinScore = -690.0;

BOSQUET_INLINE double exp_of_score(double score) {
    return score < kMinScore ? 0.0 : portable_exp(score);
}

// p_k ∝ exp(score_k) over the experts that are awake, 0 for the others. Returns the logarithm of
// the sum.
inline double softmax(const double* score, Awake awake, std::size_t n, double* p) {
    double top = highest(score, awake, n);
    for (std::size_t k = 0; k < n; ++k) p[k] = exp_of_score(score[k] - top);
    if (awake != nullptr)
        for (std::size_t k = 0; k < n; ++k) p[k] = awake[k] ? p[k] : 0.0;
    double total = sum_over(n, [&](std::size_t k) { return p[k]; });
    for (std::size_t k = 0; k < n; ++k) p[k] /= total;
    return top + portable_log(total);
}

// p_k ∝ amount_k (not negative) over the experts that are awake. If all their amounts are 0,
// `otherwise` replaces the amounts.
inline void normalise(const double* amount, const double* otherwise, Awake awake, std::size_t n,
                      double* p) {
    for (std::size_t k = 0; k < n; ++k) p[k] = is_awake(awake, k) ? amount[k] : 0.0;
    double total = sum_over(n, [&](std::size_t k) { return p[k]; });
    if (!(total > 0)) {
        for (std::size_t k = 0; k < n; ++k) p[k] = is_awake(awake, k) ? otherwise[k] : 0.0;
        total = sum_over(n, [&](std::size_t k) { return p[k]; });
    }
    for (std::size_t k = 0; k < n; ++k) p[k] /= total;
}

// log(1 + x), also precise for small x.
BOSQUET_INLINE double log_one_plus(double x) {
    double size = x < 0 ? -x : x;
    if (size < 1e-4) return x * (1.0 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4))));
    return portable_log(1.0 + x);
}

}  // namespace bosquet
