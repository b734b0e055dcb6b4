#include "base/math.hpp"
#include "boost/quantise.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

constexpr std::size_t kLanes = 8;

PairSums sums(const GradientPair* pairs, std::size_t count) {
    double g[kLanes] = {}, h[kLanes] = {};
    float least = count > 0 ? pairs[0].h : 0, greatest = least;
    for (std::size_t i = 0; i < count; ++i) {
        least = pairs[i].h < least ? pairs[i].h : least;
        greatest = pairs[i].h > greatest ? pairs[i].h : greatest;
    }
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            g[lane] += __builtin_fabsf(pairs[i + lane].g);
            h[lane] += pairs[i + lane].h;
        }
    for (; i < count; ++i) {
        g[i % kLanes] += __builtin_fabsf(pairs[i].g);
        h[i % kLanes] += pairs[i].h;
    }
    auto total = [](const double* lanes) {
        return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
               ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    };
    return {total(g), total(h), least, greatest};
}

// Rounds to the nearest integer, ties to even: adding 1.5 * 2^52 leaves it in the low bits.
BOSQUET_INLINE std::int64_t rounded(double value) {
    return __builtin_bit_cast(std::int64_t, value + kRoundToInteger) -
           __builtin_bit_cast(std::int64_t, kRoundToInteger);
}

void quantise(const GradientPair* __restrict pairs, std::size_t count, double per_gradient,
              double per_hessian, Packed* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t g = rounded(pairs[i].g * per_gradient);
        std::int64_t h = rounded(pairs[i].h * per_hessian);
        out[i] = g * (std::int64_t{1} << 32) + h;
    }
}

}  // namespace

const QuantiseKernels quantise_kernels = {sums, quantise};

}  // namespace bosquet::BOSQUET_ISA
