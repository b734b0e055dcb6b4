// The inner loops of growing a tree, compiled once per instruction set.
#include <cstring>

#include "grow/kernels.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bosquet::BOSQUET_ISA {

namespace {

// How many rows ahead cache lines are prefetched: a row takes about 15 ns, a line from memory about
// 100.
constexpr std::size_t kAhead = 16;

// Calls use(row) for each row of a gathered set, and fetch(row) some rows earlier. Entries after
// the end of the set are not read, because another thread may be writing them.
template <class Fetch, class Use>
[[gnu::always_inline]] inline void for_rows_ahead(RowSet rows, Fetch fetch, Use use) {
    const std::uint32_t* row = rows.rows;
    std::size_t i = 0;
    for (; i + kAhead < rows.count; ++i) {
        fetch(row[i + kAhead]);
        use(row[i]);
    }
    for (; i < rows.count; ++i) use(row[i]);
}

// Adds `Features` bins of a row, read as 64-bit words of eight bins: one extraction and one
// addition in memory per bin, at constant offsets from one base.
template <int Features>
[[gnu::always_inline]] inline void add_row(const std::uint8_t* bins, PackedGradient value,
                                           PackedGradient* histogram) {
#pragma GCC unroll 4
    for (int word = 0; word < (Features + 7) / 8; ++word) {
        std::uint64_t eight;
        std::memcpy(&eight, bins + 8 * word, 8);
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i)
            if (8 * word + i < Features)
                histogram[(8 * word + i) * 256 + (eight >> (8 * i) & 255)] += value;
    }
}

template <int Features>
void gather_histogram(const std::uint8_t* tile, std::uint32_t stride, RowSet rows,
                      const PackedGradient* gradients, PackedGradient* histogram) {
    for_rows_ahead(
        rows,
        [&](std::size_t row) {
            __builtin_prefetch(tile + row * stride);
            __builtin_prefetch(gradients + row);
        },
        [&](std::size_t row) {
            add_row<Features>(tile + row * stride, gradients[row], histogram);
        });
}

template <int Features>
void run_histogram(const std::uint8_t* tile, std::uint32_t stride, RowSet rows,
                   const PackedGradient* gradients, PackedGradient* histogram) {
    const std::uint8_t* bins = tile + rows.first * stride;
    const PackedGradient* value = gradients + rows.first;
    for (std::size_t i = 0; i < rows.count; ++i, bins += stride)
        add_row<Features>(bins, value[i], histogram);
}

template <int Features>
void histogram_of(const std::uint8_t* tile, std::uint32_t stride, RowSet rows,
                  const PackedGradient* gradients, PackedGradient* histogram) {
    if (rows.rows != nullptr)
        return gather_histogram<Features>(tile, stride, rows, gradients, histogram);
    if constexpr (Features <= 16) {
        run_histogram<Features>(tile, stride, rows, gradients, histogram);
    } else {
        // The histograms of 16 features fill the first-level cache. A run of rows is short enough
        // to stay in the second-level cache while it is read once for each half of the features.
        constexpr std::size_t kRun = 1024;
        for (std::size_t begin = 0; begin < rows.count; begin += kRun) {
            RowSet run = rows.part(begin, rows.count - begin < kRun ? rows.count - begin : kRun);
            run_histogram<16>(tile, stride, run, gradients, histogram);
            run_histogram<Features - 16>(tile + 16, stride, run, gradients, histogram + 16 * 256);
        }
    }
}

using HistogramOf = void (*)(const std::uint8_t*, std::uint32_t, RowSet, const PackedGradient*,
                             PackedGradient*);

template <int Count, int... Rest>
struct UpTo : UpTo<Count - 1, Count, Rest...> {};
template <int... Counts>
struct UpTo<0, Counts...> {
    static constexpr HistogramOf table[] = {histogram_of<Counts>...};
};

void tile_histogram(const std::uint8_t* tile, std::uint32_t stride, std::uint32_t features,
                    RowSet rows, const PackedGradient* gradients, PackedGradient* histogram) {
    UpTo<32>::table[features - 1](tile, stride, rows, gradients, histogram);
}

void wide_histogram(const std::uint16_t* column, RowSet rows, const PackedGradient* gradients,
                    PackedGradient* histogram) {
    if (rows.rows == nullptr) {
        for (std::size_t i = rows.first; i < rows.first + rows.count; ++i)
            histogram[column[i]] += gradients[i];
        return;
    }
    for_rows_ahead(
        rows,
        [&](std::size_t row) {
            __builtin_prefetch(column + row);
            __builtin_prefetch(gradients + row);
        },
        [&](std::size_t row) { histogram[column[row]] += gradients[row]; });
}

void add(PackedGradient* __restrict a, const PackedGradient* __restrict b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
}

void subtract(PackedGradient* __restrict a, const PackedGradient* __restrict b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] -= b[i];
}

void accumulate(PackedGradient* histogram, std::uint32_t bins) {
    const PackedGradient missing = histogram[0];
    histogram[0] = 0;
    std::uint32_t i = 0;
    PackedGradient before = 0;
#if defined(__AVX2__)
    // Four at a time: the dependency from one group of four to the next is a single addition.
    __m256i carry = _mm256_setzero_si256();
    for (; i + 4 <= bins; i += 4) {
        auto* four = reinterpret_cast<__m256i*>(histogram + i);
        __m256i v = _mm256_load_si256(four);
        v = _mm256_add_epi64(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_permute4x64_epi64(v, 0x55);
        v = _mm256_add_epi64(v, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
        _mm256_store_si256(four, _mm256_add_epi64(v, carry));
        carry = _mm256_add_epi64(carry, _mm256_permute4x64_epi64(v, 0xff));
    }
    before = _mm256_extract_epi64(carry, 0);
#endif
    for (; i < bins; ++i) histogram[i] = before += histogram[i];
    histogram[0] = missing;
}

// The score of the split with `left` on the left side; -1 if it is not admissible.
inline double score_of(PackedGradient left, const NodeScan& node) {
    std::int32_t h = hessian_of(left), right = hessian_of(node.total) - h;
    if (h < node.min_hessian || right < node.min_hessian) return -1;
    double a = h * node.hessian_unit + node.l2;
    double c = right * node.hessian_unit + node.l2;
    return split_score(gradient_of(left) * node.gradient_unit, a, c, node.mean);
}

#if defined(__AVX2__)

// The order in which two vectors of four running sums become eight halves.
#define BOSQUET_SHUFFLED 0, 1, 4, 5, 2, 3, 6, 7

// Computes approximate scores in single precision and in the units of the histogram, eight at a
// time, NaN for splits that are not admissible. Returns the score that a split must reach to be
// scored again in double precision, -1 if there is none. `before` goes left in every split.
template <bool WithBefore>
inline float approximate_scores(const PackedGradient* sums, BinRange bins, PackedGradient before,
                                const NodeScan& node, float* scores) {
    const __m256 mean = _mm256_set1_ps(node.float_mean), l2 = _mm256_set1_ps(node.float_l2);
    const __m256i total_h = _mm256_set1_epi32(hessian_of(node.total));
    const __m256i min_h = _mm256_set1_epi32(node.min_hessian);
    const __m256i missing = _mm256_set1_epi64x(before);
    const __m256i order = _mm256_setr_epi32(BOSQUET_SHUFFLED);
    __m256 best = _mm256_set1_ps(-1);
    auto score_eight = [&](std::uint32_t i, __m256i outside) {
        const auto* eight = reinterpret_cast<const __m256i*>(sums + i);
        __m256i low = _mm256_load_si256(eight), high = _mm256_load_si256(eight + 1);
        if constexpr (WithBefore) {
            low = _mm256_add_epi64(low, missing);
            high = _mm256_add_epi64(high, missing);
        }
        __m256 first = _mm256_castsi256_ps(low), second = _mm256_castsi256_ps(high);
        __m256i h = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
        __m256i g = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
        __m256i right = _mm256_sub_epi32(total_h, h);
        __m256 a = _mm256_add_ps(_mm256_cvtepi32_ps(h), l2);
        __m256 c = _mm256_add_ps(_mm256_cvtepi32_ps(right), l2);
        __m256 t = _mm256_sub_ps(_mm256_cvtepi32_ps(g), _mm256_mul_ps(mean, a));
        __m256 score = _mm256_div_ps(_mm256_mul_ps(t, t), _mm256_mul_ps(a, c));
        __m256i forbidden = _mm256_cmpgt_epi32(min_h, _mm256_min_epi32(h, right));
        // All ones are a NaN, for which every comparison is false.
        score = _mm256_or_ps(score, _mm256_castsi256_ps(_mm256_or_si256(forbidden, outside)));
        best = _mm256_max_ps(score, best);
        _mm256_store_ps(scores + i, score);
    };
    // Some of the first and of the last eight are outside the range.
    std::uint32_t i = bins.first / 8 * 8, last = bins.last / 8 * 8;
    __m256i outside = _mm256_cmpgt_epi32(_mm256_set1_epi32(bins.first % 8), order);
    if (i < last) {
        score_eight(i, outside);
        outside = _mm256_setzero_si256();
        for (i += 8; i < last; i += 8) score_eight(i, outside);
    }
    __m256i after = _mm256_cmpgt_epi32(order, _mm256_set1_epi32(bins.last % 8));
    score_eight(last, _mm256_or_si256(outside, after));

    __m128 top = _mm_max_ps(_mm256_castps256_ps128(best), _mm256_extractf128_ps(best, 1));
    top = _mm_max_ps(top, _mm_movehl_ps(top, top));
    top = _mm_max_ss(top, _mm_movehdup_ps(top));
    if (_mm_cvtss_f32(top) < 0) return -1;
    float root = _mm_cvtss_f32(_mm_sqrt_ss(top));
    float certain = root - (root * node.relative_error + node.absolute_error);
    return certain > 0 ? certain * certain : 0;
}

// Calls consider(bin) for the splits whose approximate score reaches the bar, in order.
template <class Consider>
[[gnu::always_inline]] inline void consider_candidates(const float* scores, BinRange bins,
                                                       float bar, Consider consider) {
    const __m256 level = _mm256_set1_ps(bar);
    for (std::uint32_t i = bins.first / 8 * 8; i <= bins.last; i += 8) {
        auto candidates = static_cast<unsigned>(
            _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(scores + i), level, _CMP_GE_OQ)));
        if (candidates == 0) continue;
        // Undo BOSQUET_SHUFFLED.
        candidates = (candidates & 0xc3) | (candidates & 0x0c) << 2 | (candidates & 0x30) >> 2;
        for (; candidates != 0; candidates &= candidates - 1)
            consider(i + static_cast<std::uint32_t>(__builtin_ctz(candidates)));
    }
}

// Above this value, squares overflow single precision.
constexpr float kMaxApproximateL2 = 1e15f;

#endif

// Finds the best split with `before` (the missing values or nothing) on the left. It replaces
// `result` if its score is larger; of equal splits the earlier one is kept.
inline void scan_side(const PackedGradient* sums, BinRange bins, PackedGradient before,
                      bool missing_left, const NodeScan& node, ScanResult& result) {
    if (bins.first > bins.last) return;
    auto consider = [&](std::uint32_t bin) {
        PackedGradient left = sums[bin] + before;
        double score = score_of(left, node);
        if (score > result.score) result = {score, bin, missing_left, left};
    };
#if defined(__AVX2__)
    if (node.float_l2 <= kMaxApproximateL2) {
        alignas(64) float scores[256];
        float bar = before == 0 ? approximate_scores<false>(sums, bins, before, node, scores)
                                : approximate_scores<true>(sums, bins, before, node, scores);
        if (bar >= 0) consider_candidates(scores, bins, bar, consider);
        return;
    }
#endif
    for (std::uint32_t bin = bins.first; bin <= bins.last; ++bin) consider(bin);
}

ScanResult scan(const PackedGradient* sums, BinRange missing_right, BinRange missing_left,
                const NodeScan& node) {
    ScanResult result;
    scan_side(sums, missing_right, 0, false, node, result);
    if (sums[0] != 0) scan_side(sums, missing_left, sums[0], true, node, result);
    return result;
}

template <class Bin, class GoesLeft>
[[gnu::always_inline]] inline std::size_t mark(const Bin* column, std::size_t stride, RowSet rows,
                                               std::uint64_t* marks, GoesLeft goes_left) {
    std::size_t total = 0;
    for (std::size_t begin = 0; begin < rows.count; begin += 64) {
        std::size_t size = rows.count - begin < 64 ? rows.count - begin : 64;
        std::uint64_t word = 0;
        if (rows.rows != nullptr) {
            const std::uint32_t* row = rows.rows + begin;
            for (std::size_t i = 0; i < size; ++i)
                word |= std::uint64_t{goes_left(column[row[i] * stride])} << i;
        } else {
            const Bin* bins = column + (rows.first + begin) * stride;
            for (std::size_t i = 0; i < size; ++i)
                word |= std::uint64_t{goes_left(bins[i * stride])} << i;
        }
        marks[begin / 64] = word;
        total += static_cast<std::size_t>(__builtin_popcountll(word));
    }
    return total;
}

// With a constant stride of 1 the compiler vectorises the loop over consecutive rows.
template <class GoesLeft>
[[gnu::always_inline]] inline std::size_t mark(NarrowColumn column, RowSet rows,
                                               std::uint64_t* marks, GoesLeft goes_left) {
    if (column.stride == 1) return mark(column.data, 1, rows, marks, goes_left);
    return mark(column.data, column.stride, rows, marks, goes_left);
}

std::size_t mark_below(NarrowColumn column, RowSet rows, std::uint8_t shift, std::uint8_t bound,
                       std::uint64_t* marks) {
    return mark(column, rows, marks,
                [=](std::uint8_t bin) { return static_cast<std::uint8_t>(bin - shift) <= bound; });
}

std::size_t mark_table(NarrowColumn column, RowSet rows, const std::uint8_t* goes_left,
                       std::uint64_t* marks) {
    return mark(column, rows, marks, [=](std::uint8_t bin) { return goes_left[bin] != 0; });
}

std::size_t mark_wide(const std::uint16_t* column, RowSet rows, const std::uint8_t* goes_left,
                      std::uint64_t* marks) {
    return mark(column, 1, rows, marks, [=](std::uint16_t bin) { return goes_left[bin] != 0; });
}

#if defined(__AVX2__)

// For each byte of marks, the lanes that are set, in order, then the other lanes.
struct CompressTable {
    alignas(64) std::uint32_t lanes[256][8];
    constexpr CompressTable() : lanes{} {
        for (unsigned byte = 0; byte < 256; ++byte) {
            unsigned at = 0;
            for (unsigned lane = 0; lane < 8; ++lane)
                if (byte >> lane & 1) lanes[byte][at++] = lane;
            for (unsigned lane = 0; lane < 8; ++lane)
                if (!(byte >> lane & 1)) lanes[byte][at++] = lane;
        }
    }
};
constexpr CompressTable kCompress;

#endif

// One row at a time, without branches: each step advances either `left` or `right`.
inline void split_few(RowSet rows, std::size_t begin, std::size_t end, const std::uint64_t* marks,
                      std::uint32_t*& left, std::uint32_t*& right) {
    for (std::size_t i = begin; i < end; ++i) {
        bool goes_left = marks[i / 64] >> (i % 64) & 1;
        std::uint32_t* at = goes_left ? left : right;
        *at = static_cast<std::uint32_t>(rows.row(i));
        left += goes_left;
        right += !goes_left;
    }
}

void split_rows(RowSet rows, const std::uint64_t* marks, std::uint32_t* left,
                std::uint32_t* right) {
    std::size_t i = 0;
#if defined(__AVX2__)
    // Eight rows at a time: a permutation moves those that go left to the front. A store writes
    // eight entries even if fewer are valid, so that the last rows of each side are left to
    // split_few, which writes nothing past the end.
    std::size_t n_left = 0;
    for (std::size_t word = 0; word < (rows.count + 63) / 64; ++word)
        n_left += static_cast<std::size_t>(__builtin_popcountll(marks[word]));
    const std::uint32_t* left_end = left + n_left;
    const std::uint32_t* right_end = right + (rows.count - n_left);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(marks);
    __m256i run = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(rows.first)),
                                   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (; i + 8 <= rows.count && left + 8 <= left_end && right + 8 <= right_end; i += 8) {
        __m256i eight;
        if (rows.rows != nullptr) {
            eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows.rows + i));
        } else {
            eight = run;
            run = _mm256_add_epi32(run, _mm256_set1_epi32(8));
        }
        unsigned byte = bytes[i / 8];
        unsigned count = static_cast<unsigned>(__builtin_popcount(byte));
        auto lanes = [](unsigned b) {
            return _mm256_load_si256(reinterpret_cast<const __m256i*>(kCompress.lanes[b]));
        };
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(left),
                            _mm256_permutevar8x32_epi32(eight, lanes(byte)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(right),
                            _mm256_permutevar8x32_epi32(eight, lanes(byte ^ 255)));
        left += count;
        right += 8 - count;
    }
#endif
    split_few(rows, i, rows.count, marks, left, right);
}

}  // namespace

const GrowKernels grow_kernels = {tile_histogram, wide_histogram, add,        subtract,
                                  accumulate,     scan,           mark_below, mark_table,
                                  mark_wide,      split_rows};

}  // namespace bosquet::BOSQUET_ISA
