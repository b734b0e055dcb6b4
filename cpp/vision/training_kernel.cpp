// The inner loops of boosting on Haar features, compiled once per instruction set.
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vision/training_kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

// Written so that the compiler vectorises it: integer operations are exact, and each floating-point
// operation is rounded separately.
template <int kRectangles>
inline void values_of(const CornerPlanes& corners, const float* __restrict factors,
                      std::size_t count, float* __restrict out) {
    const std::int32_t* __restrict a0 = corners.plane[0][0];
    const std::int32_t* __restrict a1 = corners.plane[0][1];
    const std::int32_t* __restrict a2 = corners.plane[0][2];
    const std::int32_t* __restrict a3 = corners.plane[0][3];
    const std::int32_t* __restrict b0 = corners.plane[1][0];
    const std::int32_t* __restrict b1 = corners.plane[1][1];
    const std::int32_t* __restrict b2 = corners.plane[1][2];
    const std::int32_t* __restrict b3 = corners.plane[1][3];
    const std::int32_t* __restrict c0 = corners.plane[2][0];
    const std::int32_t* __restrict c1 = corners.plane[2][1];
    const std::int32_t* __restrict c2 = corners.plane[2][2];
    const std::int32_t* __restrict c3 = corners.plane[2][3];
    const float a = corners.weight[0], b = corners.weight[1], c = corners.weight[2];
    for (std::size_t i = 0; i < count; ++i) {
        float value = a * static_cast<float>(a0[i] - a1[i] - a2[i] + a3[i]);
        if constexpr (kRectangles > 1)
            value += b * static_cast<float>(b0[i] - b1[i] - b2[i] + b3[i]);
        if constexpr (kRectangles > 2)
            value += c * static_cast<float>(c0[i] - c1[i] - c2[i] + c3[i]);
        out[i] = value * factors[i];
    }
}

void values(const CornerPlanes& corners, const float* factors, std::size_t count, float* out) {
    if (corners.rectangles == 3)
        values_of<3>(corners, factors, count, out);
    else if (corners.rectangles == 2)
        values_of<2>(corners, factors, count, out);
    else
        values_of<1>(corners, factors, count, out);
}

ValueRange range(const float* values, std::size_t count) {
    constexpr std::size_t kLanes = 16;
    float low[kLanes], high[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = values[0];
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            float value = values[i + lane];
            low[lane] = value < low[lane] ? value : low[lane];
            high[lane] = value > high[lane] ? value : high[lane];
        }
    for (; i < count; ++i) {
        low[0] = values[i] < low[0] ? values[i] : low[0];
        high[0] = values[i] > high[0] ? values[i] : high[0];
    }
    ValueRange whole_range{low[0], high[0]};
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
        whole_range.low = low[lane] < whole_range.low ? low[lane] : whole_range.low;
        whole_range.high = high[lane] > whole_range.high ? high[lane] : whole_range.high;
    }
    return whole_range;
}

void steps(const float* __restrict values, std::size_t count, float low, float per_one,
           std::uint16_t last_step, std::uint16_t* __restrict out) {
    const float last = last_step;
    for (std::size_t i = 0; i < count; ++i) {
        float step = (values[i] - low) * per_one;
        step = step < last ? step : last;
        step = step > 0 ? step : 0;
        out[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(step));
    }
}

void add(const std::uint8_t* __restrict codes, const std::int64_t* __restrict units,
         std::size_t count, std::int64_t* __restrict sums) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        std::uint64_t eight;  // one load instead of eight
        std::memcpy(&eight, codes + i, 8);
        for (int k = 0; k < 8; ++k) sums[eight >> (8 * k) & 0xff] += units[i + k];
    }
    for (; i < count; ++i) sums[codes[i]] += units[i];
}

void add_some(const std::uint8_t* __restrict codes, const std::uint32_t* __restrict rows,
              const std::int64_t* __restrict units, std::size_t count,
              std::int64_t* __restrict sums) {
    for (std::size_t i = 0; i < count; ++i) sums[codes[rows[i]]] += units[i];
}

std::size_t find(const std::uint8_t* codes, std::size_t count, std::uint8_t code,
                 std::uint32_t* rows) {
    std::size_t found = 0, i = 0;
#if defined(__AVX2__)
    // About one window in 256 has a given code, so that most vectors have none.
    const __m256i repeated_code = _mm256_set1_epi8(static_cast<char>(code));
    for (; i + 32 <= count; i += 32) {
        __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
        auto equal = static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(some, repeated_code)));
        for (; equal != 0; equal &= equal - 1)
            rows[found++] =
                static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(__builtin_ctz(equal));
    }
#endif
    for (; i < count; ++i) {
        rows[found] = static_cast<std::uint32_t>(i);
        found += codes[i] == code;
    }
    return found;
}

// The weights of each class below each code, and the totals.
struct CumulativeWeights {
    alignas(64) double positive[kMaxCodes + 8], negative[kMaxCodes + 8];
    double positives = 0, negatives = 0;
    std::size_t codes;

    CumulativeWeights(const std::int64_t* positive_sums, const std::int64_t* negative_sums,
                      std::size_t count)
        : codes(count) {
        for (std::size_t code = 0; code < codes; ++code) {
            positive[code] = positives;
            negative[code] = negatives;
            positives += static_cast<double>(positive_sums[code]);
            negatives += static_cast<double>(negative_sums[code]);
        }
        positive[codes] = positives;
        negative[codes] = negatives;
    }
};

// A bound of the rounding errors of sums in double precision, as a share of the total weight.
constexpr double kRounding = 0x1p-40;

// The maximum of term(weight of the positive class on the left, weight of the negative class on the
// left) over all splits between codes and over the extremes inside codes: all of one class and none
// of the other.
template <class Term>
inline double maximum(const CumulativeWeights& below, Term term) {
    constexpr std::size_t kLanes = 8;
    double largest[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) largest[lane] = -__builtin_inf();
    for (std::size_t code = 0; code < below.codes; code += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            double p = below.positive[code + lane], p_next = below.positive[code + lane + 1];
            double n = below.negative[code + lane], n_next = below.negative[code + lane + 1];
            double none = term(p, n), one = term(p_next, n), other = term(p, n_next);
            double larger = one > other ? one : other;
            larger = larger > none ? larger : none;
            largest[lane] = larger > largest[lane] ? larger : largest[lane];
        }
    double all = largest[0];
    for (std::size_t lane = 1; lane < kLanes; ++lane)
        all = largest[lane] > all ? largest[lane] : all;
    return all;
}

bool may_reach(const std::int64_t* positive_sums, const std::int64_t* negative_sums,
               std::size_t codes, StumpCriterion criterion, double gain_to_reach) {
    CumulativeWeights below(positive_sums, negative_sums, codes);
    double positives = below.positives, negatives = below.negatives;
    double all = positives + negatives, slack = all * kRounding;
    if (criterion == StumpCriterion::error) {
        // |S| + |T - S| is largest at the largest or at the smallest S.
        double total = positives - negatives;
        double high = maximum(below, [](double p, double n) { return p - n; });
        double low = -maximum(below, [](double p, double n) { return n - p; });
        auto gain = [&](double s) { return __builtin_fabs(s) + __builtin_fabs(total - s); };
        double reached = gain(high) > gain(low) ? gain(high) : gain(low);
        return reached + 4 * slack >= gain_to_reach;
    }
    if (criterion == StumpCriterion::exponential) {
        // Rounding may make a product of weights negative.
        auto root = [](double a, double b) {
            double product = a * b;
            return __builtin_sqrt(product > 0 ? product : 0);
        };
        double reached = maximum(below, [&](double p, double n) {
            return -(root(p, n) + root(positives - p, negatives - n));
        });
        // A weight that rounding turned into 0 was at most all * 2^-40, its root at most all *
        // 2^-20.
        return reached + all * 0x1p-19 >= gain_to_reach;
    }
    // The condition is t^2 / (left right) >= gain_to_reach. If nothing is on the left, t consists
    // of slack only. A side with less than an eighth of gain_to_reach's share of the weight cannot
    // reach it, since |t| is at most twice its weight. Therefore t is much larger than slack
    // wherever `gain_to_reach` is reached.
    if (gain_to_reach < 0x1p-30) return true;
    double mean = (positives - negatives) / all, certain = gain_to_reach * (1 - kRounding);
    return maximum(below, [&](double p, double n) {
               double left = p + n, t = __builtin_fabs(p - n - mean * left) + slack;
               return t * t - certain * left * (all - left);
           }) >= 2 * slack * slack;
}

}  // namespace

const HaarTrainingKernels haar_training_kernels = {values,   range, steps,    add,
                                                   add_some, find,  may_reach};

}  // namespace bosquet::BOSQUET_ISA
