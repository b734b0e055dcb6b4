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

constexpr std::uint32_t kLast = 1u << 31;

// Running sums are written down a stretch at a time, where a row is the last of its value; then the
// greatest and the least are looked for side by side. A stretch is looked through once more only
// when it holds a new extreme.
constexpr std::size_t kStretch = 256;

template <bool Distinct>
[[gnu::always_inline]] inline std::size_t running_sums(const std::uint32_t* order,
                                                       std::size_t count,
                                                       const std::int64_t* response,
                                                       std::int64_t& sum, std::int64_t* out) {
    std::int64_t running = sum;
    std::size_t size = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t row = order[i];
        running += response[row & ~kLast];
        out[size] = running;
        size += Distinct ? 1 : row >> 31;
    }
    sum = running;
    return size;
}

// The number of rows up to the end of value number `which` of a stretch.
template <bool Distinct>
inline std::size_t rows_up_to(const std::uint32_t* order, std::size_t which) {
    if (Distinct) return which + 1;
    std::size_t i = 0;
    for (;; ++i)
        if ((order[i] & kLast) != 0 && which-- == 0) return i + 1;
}

template <bool Distinct>
SumExtremes extremes_of(const std::uint32_t* order, std::size_t count,
                        const std::int64_t* response) {
    SumExtremes found;
    if (count < 2) return found;
    std::int64_t sum = 0;
    std::int64_t sums[kStretch];
    for (std::size_t begin = 0; begin < count - 1; begin += kStretch) {
        std::size_t rows = count - 1 - begin < kStretch ? count - 1 - begin : kStretch;
        std::size_t size = running_sums<Distinct>(order + begin, rows, response, sum, sums);
        if (size == 0) continue;
        std::int64_t most = sums[0], least = sums[0];
        for (std::size_t i = 0; i < size; ++i) {
            most = sums[i] > most ? sums[i] : most;
            least = sums[i] < least ? sums[i] : least;
        }
        auto place = [&](std::int64_t value) {
            std::size_t which = 0;
            while (sums[which] != value) ++which;
            return static_cast<std::uint32_t>(begin + rows_up_to<Distinct>(order + begin, which));
        };
        if (found.most_at == 0 || most > found.most) {
            found.most = most;
            found.most_at = place(most);
        }
        if (found.least_at == 0 || least < found.least) {
            found.least = least;
            found.least_at = place(least);
        }
    }
    return found;
}

SumExtremes extremes(const std::uint32_t* order, std::size_t count, bool distinct,
                     const std::int64_t* response) {
    return distinct ? extremes_of<true>(order, count, response)
                    : extremes_of<false>(order, count, response);
}

// Each row's margin and weight are moved by one of four steps, chosen by its side and its class.
// Returns whether the vote now has the row wrong: f = 0 is the negative class.
inline bool move_row(bool right, const StumpStep& step, double& weight, double& margin) {
    bool negative = __builtin_bit_cast(std::uint64_t, weight) >> 63;
    std::size_t which = 2 * right + negative;
    margin += step.margin[which];
    weight *= step.factor[which];
    return negative ? margin < 0 : margin <= 0;
}

inline void move_some(const std::uint8_t* right, std::size_t begin, std::size_t end,
                      const StumpStep& step, double per_one, double* weights, double* margins,
                      std::int64_t* response, MovedRows& moved) {
    for (std::size_t i = begin; i < end; ++i) {
        moved.wrong += move_row(right[i] != 0, step, weights[i], margins[i]);
        std::int64_t units = __builtin_llrint(weights[i] * per_one);
        response[i] = units;
        moved.response += units;
        moved.weight += units < 0 ? -units : units;
    }
}

#if defined(__AVX2__)

inline std::int64_t total(__m256i four) {
    alignas(32) std::int64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), four);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// Positive doubles below 2^62 to the nearest integers, in two halves: adding 1.5 * 2^52 leaves an
// integer in the low bits, and what the upper half leaves over is exact. The upper half is even, so
// that ties fall as they do for the whole.
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

#endif

MovedRows move_rows(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                    double per_one, double* __restrict weights, double* __restrict margins,
                    std::int64_t* __restrict response) {
    MovedRows moved;
    std::size_t i = 0;
#if defined(__AVX2__)
    const __m256d sign_bit = _mm256_set1_pd(-0.0), zero = _mm256_setzero_pd();
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
        // A blend asks for the sign bit alone, which of a weight is its class.
        auto chosen = [&](const __m256d* four) {
            return _mm256_blendv_pd(_mm256_blendv_pd(four[0], four[1], weight),
                                    _mm256_blendv_pd(four[2], four[3], weight), on_right);
        };
        __m256d margin = _mm256_add_pd(_mm256_loadu_pd(margins + i), chosen(margin_step));
        weight = _mm256_mul_pd(weight, chosen(factor));
        _mm256_storeu_pd(margins + i, margin);
        _mm256_storeu_pd(weights + i, weight);
        __m256d size = _mm256_andnot_pd(sign_bit, weight);
        __m256i units = nearest(_mm256_mul_pd(size, _mm256_set1_pd(per_one)));
        absolute = _mm256_add_epi64(absolute, units);
        __m256i negative =
            _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(sign));
        units = _mm256_sub_epi64(_mm256_xor_si256(units, negative), negative);
        sum = _mm256_add_epi64(sum, units);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(response + i), units);
        __m256d is_wrong = _mm256_blendv_pd(_mm256_cmp_pd(margin, zero, _CMP_LE_OQ),
                                            _mm256_cmp_pd(margin, zero, _CMP_LT_OQ), sign);
        wrong = _mm256_sub_epi64(wrong, _mm256_castpd_si256(is_wrong));
    }
    moved = {total(sum), total(absolute), static_cast<std::size_t>(total(wrong))};
#endif
    move_some(right, i, count, step, per_one, weights, margins, response, moved);
    return moved;
}

// Side by bin where the bins from 1 to `last` are on the left: missing values, bin 0, become the
// highest byte if they go right.
void sides_of_bins(const std::uint8_t* bins, std::size_t count, std::uint8_t last,
                   bool missing_left, std::uint8_t* __restrict right) {
    std::uint8_t shift = missing_left ? 0 : 1;
    auto bound = static_cast<std::uint8_t>(last - shift);
    for (std::size_t i = 0; i < count; ++i)
        right[i] = static_cast<std::uint8_t>(bins[i] - shift) > bound;
}

void exponentials(const double* margins, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = exact_exp(-margins[i]);
}

}  // namespace

const StumpKernels stump_kernels = {extremes, move_rows, sides_of_bins, exponentials};

}  // namespace bosquet::BOSQUET_ISA
