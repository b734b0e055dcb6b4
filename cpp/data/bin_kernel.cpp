// Finds the bin of a value. The edges form 16 segments of 16. The number of segments that end below
// the value is the index of its segment; the number of edges below the value inside the segment
// gives the bin. With vector instructions each count takes one or two comparisons, without branches
// and without a chain of dependent loads.
#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "data/binning.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

#if defined(__AVX2__)

inline unsigned count_below(const float* edges, __m256 value) {
    unsigned low = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges), value, _CMP_LT_OQ));
    unsigned high =
        _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges + 8), value, _CMP_LT_OQ));
    return static_cast<unsigned>(__builtin_popcount(low | high << 8));
}

inline unsigned count_below(const double* edges, __m256d value) {
    unsigned mask = 0;
    for (int i = 0; i < 4; ++i)
        mask |= static_cast<unsigned>(_mm256_movemask_pd(
                    _mm256_cmp_pd(_mm256_loadu_pd(edges + 4 * i), value, _CMP_LT_OQ)))
                << (4 * i);
    return static_cast<unsigned>(__builtin_popcount(mask));
}

inline __m256 broadcast(float value) { return _mm256_set1_ps(value); }
inline __m256d broadcast(double value) { return _mm256_set1_pd(value); }

template <class Value>
unsigned rank_of(const Value* edges, const Value* segment_ends, Value value) {
    auto wide = broadcast(value);
    unsigned segment = count_below(segment_ends, wide);
    return segment * 16 + count_below(edges + segment * 16, wide);
}

#else

template <class Value>
unsigned rank_of(const Value* edges, const Value*, Value value) {
    unsigned rank = 0;
    // A mask instead of a branch, which would be mispredicted half of the time.
    for (unsigned step = 128; step > 0; step /= 2)
        rank += step & (0u - static_cast<unsigned>(edges[rank + step - 1] < value));
    return rank;
}

#endif

template <class Value>
void bin_values(const Value* values, std::size_t count, const Value* edges, std::uint8_t* out) {
    alignas(64) Value segment_ends[16];
    for (int segment = 0; segment < 16; ++segment) segment_ends[segment] = edges[segment * 16 + 15];
    for (std::size_t i = 0; i < count; ++i) {
        Value value = values[i];
        unsigned bin = 1 + rank_of(edges, segment_ends, value);
        out[i] = value == value ? static_cast<std::uint8_t>(bin) : std::uint8_t{0};
    }
}

}  // namespace

const BinKernels bin_kernels = {bin_values<float>, bin_values<double>};

}  // namespace bosquet::BOSQUET_ISA
