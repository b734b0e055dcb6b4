// The inner loops of searching and boosting stumps, compiled once per instruction set.
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "base/math.hpp"
#include "stump/kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

BOSQUET_INLINE std::int64_t in_units(double value, double per_one) {
    return __builtin_llrint(value * per_one);
}

inline void move_rows_scalar(const std::uint8_t* right, std::size_t begin, std::size_t end,
                             const StumpStep& step, double per_one, double* weights,
                             double* margins, std::int64_t* response, std::int64_t* change,
                             RowsBySign& changed, MovedRows& moved) {
    for (std::size_t i = begin; i < end; ++i) {
        bool negative = __builtin_bit_cast(std::uint64_t, weights[i]) >> 63;
        std::size_t which = 2 * std::size_t{right[i]} + negative;
        std::int64_t before = in_units(weights[i], per_one);
        weights[i] *= step.factor[which];
        margins[i] += step.margin[which];
        response[i] = in_units(weights[i], per_one);
        change[i] = response[i] - before;
        moved.response += change[i];
        moved.weight += negative ? -change[i] : change[i];
        // f = 0 predicts the negative class, so that a row of the positive class is wrong.
        moved.wrong += negative ? margins[i] < 0 : margins[i] <= 0;
        changed.rows[negative][changed.count[negative]] = static_cast<std::uint32_t>(i);
        changed.count[negative] += step.factor[which] != 1;
    }
}

#if defined(__AVX2__)

inline std::int64_t total(__m256i four) {
    alignas(32) std::int64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), four);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// Rounds positive doubles below 2^62 to the nearest integers, in two halves: adding 1.5 * 2^52
// leaves an integer in the low bits, and the remainder of the upper half is exact. The upper half
// is even, so that ties are rounded as for the whole number.
inline __m256i nearest(__m256d x) {
    const __m256d magic = _mm256_set1_pd(kRoundToInteger);
    const __m256i magic_bits = _mm256_castpd_si256(magic);
    __m256d upper = _mm256_add_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-32)), magic);
    __m256d taken = _mm256_mul_pd(_mm256_sub_pd(upper, magic), _mm256_set1_pd(0x1p32));
    __m256d lower = _mm256_add_pd(_mm256_sub_pd(x, taken), magic);
    __m256i high = _mm256_sub_epi64(_mm256_castpd_si256(upper), magic_bits);
    __m256i low = _mm256_sub_epi64(_mm256_castpd_si256(lower), magic_bits);
    return _mm256_add_epi64(_mm256_slli_epi64(high, 32), low);
}

inline __m256i with_sign(__m256i units, __m256i negative) {
    return _mm256_sub_epi64(_mm256_xor_si256(units, negative), negative);
}

// For each four bits the lanes that are set, in order; entries after them are overwritten later.
struct SetLanes {
    alignas(64) std::uint32_t lanes[16][4];
    constexpr SetLanes() : lanes{} {
        for (unsigned bits = 0; bits < 16; ++bits)
            for (unsigned lane = 0, at = 0; lane < 4; ++lane)
                if (bits >> lane & 1) lanes[bits][at++] = lane;
    }
};
constexpr SetLanes kSetLanes;

inline void put_rows(unsigned lanes, std::size_t first, std::uint32_t* rows, std::size_t& count) {
    __m128i set = _mm_load_si128(reinterpret_cast<const __m128i*>(kSetLanes.lanes[lanes]));
    __m128i numbers = _mm_add_epi32(set, _mm_set1_epi32(static_cast<int>(first)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rows + count), numbers);
    count += static_cast<unsigned>(__builtin_popcount(lanes));
}

#endif

MovedRows move_rows(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                    double per_one, double* __restrict weights, double* __restrict margins,
                    std::int64_t* __restrict response, std::int64_t* __restrict change,
                    RowsBySign& changed) {
    MovedRows moved;
    std::size_t i = 0;
    changed.count[0] = changed.count[1] = 0;
#if defined(__AVX2__)
    const __m256d sign_bit = _mm256_set1_pd(-0.0), zero = _mm256_setzero_pd();
    const __m256d per = _mm256_set1_pd(per_one), one = _mm256_set1_pd(1);
    __m256d factor[4], margin_step[4];
    for (int which = 0; which < 4; ++which) {
        factor[which] = _mm256_set1_pd(step.factor[which]);
        margin_step[which] = _mm256_set1_pd(step.margin[which]);
    }
    __m256i sum = _mm256_setzero_si256(), absolute = sum, wrong = sum;
    for (; i + 4 <= count; i += 4) {
        std::int32_t sides;
        std::memcpy(&sides, right + i, 4);
        __m256i bits = _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(sides)), 63);
        __m256d on_right = _mm256_castsi256_pd(bits);
        __m256d weight = _mm256_loadu_pd(weights + i), sign = _mm256_and_pd(weight, sign_bit);
        // A blend only uses the sign bit, which for a weight is its class.
        auto chosen = [&](const __m256d* four) {
            return _mm256_blendv_pd(_mm256_blendv_pd(four[0], four[1], sign),
                                    _mm256_blendv_pd(four[2], four[3], sign), on_right);
        };
        auto units_of = [&](__m256d w) {
            return nearest(_mm256_mul_pd(_mm256_andnot_pd(sign_bit, w), per));
        };
        __m256d times = chosen(factor);
        __m256d margin = _mm256_add_pd(_mm256_loadu_pd(margins + i), chosen(margin_step));
        __m256i before = units_of(weight);
        weight = _mm256_mul_pd(weight, times);
        __m256i units = units_of(weight), more = _mm256_sub_epi64(units, before);
        absolute = _mm256_add_epi64(absolute, more);
        __m256i negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(sign));
        more = with_sign(more, negative);
        sum = _mm256_add_epi64(sum, more);
        _mm256_storeu_pd(margins + i, margin);
        _mm256_storeu_pd(weights + i, weight);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(response + i), with_sign(units, negative));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(change + i), more);
        __m256d is_wrong = _mm256_blendv_pd(_mm256_cmp_pd(margin, zero, _CMP_LE_OQ),
                                            _mm256_cmp_pd(margin, zero, _CMP_LT_OQ), sign);
        wrong = _mm256_sub_epi64(wrong, _mm256_castpd_si256(is_wrong));
        auto moving =
            static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(times, one, _CMP_NEQ_OQ)));
        auto minus = static_cast<unsigned>(_mm256_movemask_pd(sign));
        put_rows(moving & ~minus, i, changed.rows[0], changed.count[0]);
        put_rows(moving & minus, i, changed.rows[1], changed.count[1]);
    }
    moved = {total(sum), total(absolute), static_cast<std::size_t>(total(wrong))};
#endif
    move_rows_scalar(right, i, count, step, per_one, weights, margins, response, change, changed,
                     moved);
    return moved;
}

void sides_of_bins(const std::uint8_t* bins, std::size_t count, std::uint8_t last,
                   bool missing_left, std::uint8_t* __restrict right) {
    // Missing values (bin 0) become the largest byte if they go right.
    std::uint8_t shift = missing_left ? 0 : 1;
    auto bound = static_cast<std::uint8_t>(last - shift);
    for (std::size_t i = 0; i < count; ++i)
        right[i] = static_cast<std::uint8_t>(bins[i] - shift) > bound;
}

// A comparison with NaN is false, so that missing values change neither limit.
inline void widen(double value, double& low, double& high) {
    low = value < low ? value : low;
    high = value > high ? value : high;
}

bool find_range(const double* values, std::size_t count, BucketScale& scale) {
    const double infinity = __builtin_inf();
    double low = infinity, high = -infinity;
    bool missing = false;
    std::size_t i = 0;
#if defined(__AVX2__)
    // Minimum and maximum of two vectors return the second operand if the first is NaN.
    __m256d smallest[2] = {_mm256_set1_pd(low), _mm256_set1_pd(low)};
    __m256d largest[2] = {_mm256_set1_pd(high), _mm256_set1_pd(high)};
    __m256d unordered = _mm256_setzero_pd();
    for (; i + 8 <= count; i += 8)
        for (std::size_t half = 0; half < 2; ++half) {
            __m256d four = _mm256_loadu_pd(values + i + 4 * half);
            smallest[half] = _mm256_min_pd(four, smallest[half]);
            largest[half] = _mm256_max_pd(four, largest[half]);
            unordered = _mm256_or_pd(unordered, _mm256_cmp_pd(four, four, _CMP_UNORD_Q));
        }
    missing = _mm256_movemask_pd(unordered) != 0;
    alignas(32) double lows[4], highs[4];
    _mm256_store_pd(lows, _mm256_min_pd(smallest[0], smallest[1]));
    _mm256_store_pd(highs, _mm256_max_pd(largest[0], largest[1]));
    for (int lane = 0; lane < 4; ++lane) {
        low = lows[lane] < low ? lows[lane] : low;
        high = highs[lane] > high ? highs[lane] : high;
    }
#endif
    for (; i < count; ++i) {
        widen(values[i], low, high);
        missing = missing || values[i] != values[i];
    }
    if (low == -infinity || high == infinity) {
        double end_low = infinity, end_high = -infinity;
        for (i = 0; i < count; ++i)
            if (__builtin_fabs(values[i]) < infinity) widen(values[i], end_low, end_high);
        low = end_low;
        high = end_high;
    }
    scale.low = low;
    scale.high = high;
    scale.per_one = scale.count / (high / 2 - low / 2);
    return missing;
}

// If all values are equal, or none is finite, both limits are in the first bucket.
inline std::uint16_t bucket_of(double value, const BucketScale& scale) {
    double last = scale.count - 1.0;
    double bucket = (value / 2 - scale.low / 2) * scale.per_one;
    bucket = bucket < last ? bucket : last;
    bucket = value >= scale.high ? last : bucket;
    bucket = value <= scale.low ? 0 : bucket;
    bucket = value == value ? bucket : scale.count;
    return static_cast<std::uint16_t>(bucket);
}

void find_buckets(const double* values, std::size_t count, const BucketScale& scale,
                  std::uint16_t* out) {
    std::size_t i = 0;
#if defined(__AVX2__)
    const __m256d low = _mm256_set1_pd(scale.low), half_low = _mm256_set1_pd(scale.low / 2);
    const __m256d high = _mm256_set1_pd(scale.high), per_one = _mm256_set1_pd(scale.per_one);
    const __m256d last = _mm256_set1_pd(scale.count - 1.0),
                  missing_bucket = _mm256_set1_pd(scale.count);
    const __m256d half = _mm256_set1_pd(0.5);
    auto buckets = [&](const double* four) {
        __m256d value = _mm256_loadu_pd(four);
        __m256d bucket =
            _mm256_mul_pd(_mm256_sub_pd(_mm256_mul_pd(value, half), half_low), per_one);
        bucket = _mm256_min_pd(bucket, last);
        bucket = _mm256_blendv_pd(bucket, last, _mm256_cmp_pd(value, high, _CMP_GE_OQ));
        bucket = _mm256_andnot_pd(_mm256_cmp_pd(value, low, _CMP_LE_OQ), bucket);
        bucket =
            _mm256_blendv_pd(bucket, missing_bucket, _mm256_cmp_pd(value, value, _CMP_UNORD_Q));
        return _mm256_cvttpd_epi32(bucket);
    };
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm_packus_epi32(buckets(values + i), buckets(values + i + 4)));
#endif
    for (; i < count; ++i) out[i] = bucket_of(values[i], scale);
}

void exponentials(const double* margins, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = portable_exp(-margins[i]);
}

}  // namespace

const StumpKernels stump_kernels = {move_rows, sides_of_bins, find_range, find_buckets,
                                    exponentials};

}  // namespace bosquet::BOSQUET_ISA
