#include "base/fixed_sum.hpp"
#include "base/random.hpp"
#include "boosting/quantise.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

GradientRange range(const GradientPair* pairs, std::size_t count) {
    std::uint32_t max_g = 0, min_h = 0xffffffff, max_h = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t g = magnitude_bits(pairs[i].g);
        // Adding 0 turns -0 into 0; the bits of other negative numbers are above those of infinity.
        auto h = __builtin_bit_cast(std::uint32_t, pairs[i].h + 0.0f);
        max_g = g > max_g ? g : max_g;
        min_h = h < min_h ? h : min_h;
        max_h = h > max_h ? h : max_h;
    }
    return {max_g, min_h, max_h};
}

GradientMultiples sums(const GradientPair* pairs, std::size_t count, double g_per_unit,
                       double h_per_unit) {
    GradientMultiples sum;
    for (std::size_t i = 0; i < count; ++i) {
        sum.absolute_g += to_multiple(__builtin_fabsf(pairs[i].g), g_per_unit);
        sum.h += to_multiple(pairs[i].h, h_per_unit);
    }
    return sum;
}

std::int64_t squared_gradients(const GradientPair* pairs, std::size_t count, double per_unit) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        double g = pairs[i].g;
        sum += to_multiple(g * g, per_unit);
    }
    return sum;
}

void quantise(const GradientPair* __restrict pairs, std::size_t count, double per_gradient,
              double per_hessian, PackedGradient* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t g = to_multiple(pairs[i].g, per_gradient);
        std::int64_t h = to_multiple(pairs[i].h, per_hessian);
        out[i] = g * (std::int64_t{1} << 32) + h;
    }
}

constexpr std::uint64_t kRoundingStream = 0x726f756e64;  // "round"

// A number plus this noise, rounded to nearest, is rounded up with the probability of its fraction.
// From 21 random bits, uniform on (-1/2, 1/2) without the ends: the sum with an integer below 2^31
// is exact and never a tie, so that integers, and numbers that an ulp separates from one, become
// these integers.
BOSQUET_INLINE double rounding_noise(std::uint64_t bits) {
    return small_to_double(bits) * 0x1p-21 + (0x1p-22 - 0.5);
}

void quantise_stochastically(const GradientPair* __restrict pairs, std::size_t count,
                             double per_gradient, double per_hessian, std::uint64_t key,
                             std::uint64_t first_number, PackedGradient* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = hash64(key, kRoundingStream, first_number + i);
        double g = pairs[i].g * per_gradient + rounding_noise(bits >> 43);
        double h = pairs[i].h * per_hessian + rounding_noise(bits & 0x1fffff);
        out[i] = to_multiple(g, 1) * (std::int64_t{1} << 32) + to_multiple(h, 1);
    }
}

}  // namespace

const QuantiseKernels quantise_kernels = {range, sums, squared_gradients, quantise,
                                          quantise_stochastically};

}  // namespace bosquet::BOSQUET_ISA
