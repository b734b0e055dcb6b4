// The inner loops of searching and boosting stumps, compiled once per instruction set.
#include <cstddef>
#include <cstdint>

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
MovedRows move_rows(const std::uint8_t* right, std::size_t count, const StumpStep& step,
                    double per_one, double* __restrict weights, double* __restrict margins,
                    std::int64_t* __restrict response) {
    MovedRows moved;
    for (std::size_t i = 0; i < count; ++i) {
        auto bits = __builtin_bit_cast(std::uint64_t, weights[i]);
        std::size_t which = 2 * right[i] + (bits >> 63);
        double margin = margins[i] + step.margin[which];
        double weight = weights[i] * step.factor[which];
        margins[i] = margin;
        weights[i] = weight;
        std::int64_t units = __builtin_llrint(weight * per_one);
        response[i] = units;
        moved.response += units;
        moved.weight += units < 0 ? -units : units;
        // f = 0 is the negative class: a row of the positive one is wrong there.
        moved.wrong += (bits >> 63) != 0 ? margin < 0 : margin <= 0;
    }
    return moved;
}

void exponentials(const double* margins, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = exact_exp(-margins[i]);
}

}  // namespace

const StumpKernels stump_kernels = {extremes, move_rows, exponentials};

}  // namespace bosquet::BOSQUET_ISA
