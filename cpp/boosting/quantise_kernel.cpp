#include "base/math.hpp"
#include "boosting/quantise.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

constexpr std::size_t kLanes = 8;

BOSQUET_INLINE double total(const double* lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double squared_gradients(const GradientPair* pairs, std::size_t count) {
    double lanes[kLanes] = {};
    for (std::size_t i = 0; i < count; ++i)
        lanes[i % kLanes] += static_cast<double>(pairs[i].g) * pairs[i].g;
    return total(lanes);
}

GradientSums sums(const GradientPair* pairs, std::size_t count) {
    double g[kLanes] = {}, h[kLanes] = {};
    float first = count > 0 ? pairs[0].h : 0;
    float least[kLanes], greatest[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) least[lane] = greatest[lane] = first;
    auto add = [&](const GradientPair& pair, std::size_t lane) {
        g[lane] += __builtin_fabsf(pair.g);
        h[lane] += pair.h;
        least[lane] = pair.h < least[lane] ? pair.h : least[lane];
        greatest[lane] = pair.h > greatest[lane] ? pair.h : greatest[lane];
    };
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) add(pairs[i + lane], lane);
    for (; i < count; ++i) add(pairs[i], i % kLanes);
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
        least[0] = least[lane] < least[0] ? least[lane] : least[0];
        greatest[0] = greatest[lane] > greatest[0] ? greatest[lane] : greatest[0];
    }
    return {total(g), total(h), least[0], greatest[0]};
}

// Rounds to the nearest integer, ties to even: adding 1.5 * 2^52 moves the integer to the low bits.
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

const QuantiseKernels quantise_kernels = {sums, squared_gradients, quantise};

}  // namespace bosquet::BOSQUET_ISA
