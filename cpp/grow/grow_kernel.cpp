// The inner loops of growing a tree, compiled once per instruction set.
#include <cstring>

#include "grow/kernels.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bosquet::BOSQUET_ISA {

namespace {

// Rows ahead of the one in work whose lines are asked for; the row itself takes some 15 ns, a line
// from memory some 100.
constexpr std::size_t kAhead = 16;

// `Features` bins of a row, read as 64-bit words of eight: an extraction and an addition in memory
// per bin, at constant offsets from one base.
template <int Features>
[[gnu::always_inline]] inline void add_row(const std::uint8_t* bins, Packed value,
                                           Packed* histogram) {
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
                      const Packed* gradients, Packed* histogram) {
    const std::uint32_t* row = rows.rows;
    for (std::size_t i = 0; i < rows.count; ++i) {
        std::size_t ahead = row[i + kAhead];  // the row buffers have slack behind them
        __builtin_prefetch(tile + ahead * stride);
        __builtin_prefetch(gradients + ahead);
        add_row<Features>(tile + std::size_t{row[i]} * stride, gradients[row[i]], histogram);
    }
}

template <int Features>
void run_histogram(const std::uint8_t* tile, std::uint32_t stride, RowSet rows,
                   const Packed* gradients, Packed* histogram) {
    const std::uint8_t* bins = tile + rows.first * stride;
    const Packed* value = gradients + rows.first;
    for (std::size_t i = 0; i < rows.count; ++i, bins += stride)
        add_row<Features>(bins, value[i], histogram);
}

template <int Features>
void histogram_of(const std::uint8_t* tile, std::uint32_t stride, RowSet rows,
                  const Packed* gradients, Packed* histogram) {
    if (rows.rows != nullptr)
        return gather_histogram<Features>(tile, stride, rows, gradients, histogram);
    if constexpr (Features <= 16) {
        run_histogram<Features>(tile, stride, rows, gradients, histogram);
    } else {
        // 16 features' histograms fill the first-level cache. A run of rows is short enough to stay
        // in the second while it is read once for each half.
        constexpr std::size_t kRun = 1024;
        for (std::size_t begin = 0; begin < rows.count; begin += kRun) {
            RowSet run = rows.part(begin, rows.count - begin < kRun ? rows.count - begin : kRun);
            run_histogram<16>(tile, stride, run, gradients, histogram);
            run_histogram<Features - 16>(tile + 16, stride, run, gradients, histogram + 16 * 256);
        }
    }
}

using HistogramOf = void (*)(const std::uint8_t*, std::uint32_t, RowSet, const Packed*, Packed*);

template <int Count, int... Rest>
struct UpTo : UpTo<Count - 1, Count, Rest...> {};
template <int... Counts>
struct UpTo<0, Counts...> {
    static constexpr HistogramOf table[] = {histogram_of<Counts>...};
};

void tile_histogram(const std::uint8_t* tile, std::uint32_t stride, std::uint32_t features,
                    RowSet rows, const Packed* gradients, Packed* histogram) {
    UpTo<32>::table[features - 1](tile, stride, rows, gradients, histogram);
}

void wide_histogram(const std::uint16_t* column, RowSet rows, const Packed* gradients,
                    Packed* histogram) {
    if (rows.rows == nullptr) {
        for (std::size_t i = rows.first; i < rows.first + rows.count; ++i)
            histogram[column[i]] += gradients[i];
        return;
    }
    for (std::size_t i = 0; i < rows.count; ++i) {
        std::size_t ahead = rows.rows[i + kAhead];
        __builtin_prefetch(column + ahead);
        __builtin_prefetch(gradients + ahead);
        histogram[column[rows.rows[i]]] += gradients[rows.rows[i]];
    }
}

void add(Packed* __restrict a, const Packed* __restrict b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
}

void subtract(Packed* __restrict a, const Packed* __restrict b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] -= b[i];
}

// Bins are padded to whole vectors; a padded bin repeats the one before it.
constexpr std::uint32_t kScanRoom = 256 + 8;

// left[i] = before + histogram[1] + ... + histogram[i + 1]
inline void prefix_sums(const Packed* histogram, std::uint32_t splits, Packed before,
                        Packed* left) {
    std::uint32_t i = 0;
#if defined(__AVX2__)
    // Four at a time: the chain from one four to the next is a single addition.
    __m256i carry = _mm256_set1_epi64x(before);
    for (; i + 4 <= splits; i += 4) {
        __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(histogram + 1 + i));
        v = _mm256_add_epi64(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_permute4x64_epi64(v, 0x55);
        v = _mm256_add_epi64(v, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
        _mm256_store_si256(reinterpret_cast<__m256i*>(left + i), _mm256_add_epi64(v, carry));
        carry = _mm256_add_epi64(carry, _mm256_permute4x64_epi64(v, 0xff));
    }
    if (i > 0) before = left[i - 1];
#endif
    for (; i < splits; ++i) left[i] = before += histogram[i + 1];
    for (std::uint32_t pad = 0; pad < 8; ++pad) left[splits + pad] = before;
}

// The score of the split that has `left` on the left, -1 where it is not admissible.
inline double score_of(Packed left, Packed total, double mean, const ScanScale& scale) {
    std::int32_t h = hessian_of(left), rest = hessian_of(total) - h;
    if (h < scale.least_hessian || rest < scale.least_hessian) return -1;
    double a = h * scale.hessian_unit + scale.l2;
    double c = rest * scale.hessian_unit + scale.l2;
    return split_score(gradient_of(left) * scale.gradient_unit, a, c, mean);
}

#if defined(__AVX2__)

// Upper bounds of the scores, eight at a time in single precision and in the histogram's own units;
// returns what the best of them reaches at least. Half the work of a score is its division, and
// single precision does twice as many, twice as fast: the few splits whose upper bound is not below
// the return value are then looked at again in double precision.
//
// Integers are rounded once (2^-24 of their size), a and c at most three times, mean * a at most
// five: t is off by less than `slack`, and the quotient by less than 2^-20 of its size.
inline float bound_scores(const Packed* left, std::uint32_t splits, Packed total,
                          const ScanScale& scale, float* upper) {
    auto l2_units = static_cast<float>(scale.l2 / scale.hessian_unit);
    double spread = static_cast<double>(hessian_of(total)) + 2 * (scale.l2 / scale.hessian_unit);
    const __m256 mean = _mm256_set1_ps(static_cast<float>(gradient_of(total) / spread));
    const __m256 l2 = _mm256_set1_ps(l2_units), none = _mm256_set1_ps(-1),
                 zero = _mm256_setzero_ps();
    const __m256 sign = _mm256_set1_ps(-0.0f), ulps = _mm256_set1_ps(0x1p-21f);
    const __m256i total_h = _mm256_set1_epi32(hessian_of(total));
    const __m256i too_little = _mm256_set1_epi32(scale.least_hessian - 1);
    __m256 best = none;
    for (std::uint32_t i = 0; i < splits; i += 8) {
        __m256 first = _mm256_load_ps(reinterpret_cast<const float*>(left + i));
        __m256 second = _mm256_load_ps(reinterpret_cast<const float*>(left + i + 4));
        // Low and high halves, in the order 0 1 4 5 2 3 6 7.
        __m256i h = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
        __m256i g = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
        __m256i rest = _mm256_sub_epi32(total_h, h);
        __m256 a = _mm256_add_ps(_mm256_cvtepi32_ps(h), l2);
        __m256 c = _mm256_add_ps(_mm256_cvtepi32_ps(rest), l2);
        __m256 left_g = _mm256_cvtepi32_ps(g), expected = _mm256_mul_ps(mean, a);
        __m256 t = _mm256_andnot_ps(sign, _mm256_sub_ps(left_g, expected));
        __m256 slack = _mm256_mul_ps(
            _mm256_add_ps(_mm256_andnot_ps(sign, left_g), _mm256_andnot_ps(sign, expected)), ulps);
        __m256 most = _mm256_add_ps(t, slack);
        __m256 least = _mm256_max_ps(_mm256_sub_ps(t, slack), zero);
        __m256 both = _mm256_mul_ps(a, c);
        __m256 inverse = _mm256_div_ps(_mm256_set1_ps(1), both);
        __m256 admissible = _mm256_castsi256_ps(_mm256_and_si256(
            _mm256_cmpgt_epi32(h, too_little), _mm256_cmpgt_epi32(rest, too_little)));
        __m256 high = _mm256_mul_ps(_mm256_mul_ps(most, most), inverse);
        __m256 low = _mm256_mul_ps(_mm256_mul_ps(least, least), inverse);
        high = _mm256_blendv_ps(none, high, admissible);
        best = _mm256_max_ps(_mm256_blendv_ps(none, low, admissible), best);
        __m256i ordered = _mm256_permute4x64_epi64(_mm256_castps_si256(high), 0xd8);
        _mm256_store_si256(reinterpret_cast<__m256i*>(upper + i), ordered);
    }
    alignas(32) float tops[8];
    _mm256_store_ps(tops, best);
    for (float one : tops) tops[0] = one > tops[0] ? one : tops[0];
    return tops[0] - 0x1p-18f * tops[0];
}

#endif

// The best split with `before` (the missing values or nothing) put on the left; kept in `result` if
// it beats what is there, the earlier one where two are equal.
void scan_side(const Packed* histogram, std::uint32_t bins, Packed total, Packed before,
               bool missing_left, const ScanScale& scale, ScanResult& result) {
    alignas(64) Packed left[kScanRoom];
    std::uint32_t splits = bins - 1;
    prefix_sums(histogram, splits, before, left);
    double mean = scale.mean(total);
    auto consider = [&](std::uint32_t i) {
        double score = score_of(left[i], total, mean, scale);
        if (score > result.score) result = {score, i + 1, missing_left, left[i]};
    };
#if defined(__AVX2__)
    alignas(64) float upper[kScanRoom];
    float bar = bound_scores(left, splits, total, scale, upper);
    if (bar < 0) return;
    for (std::uint32_t i = 0; i < splits; i += 8) {
        auto worthy = static_cast<unsigned>(_mm256_movemask_ps(
            _mm256_cmp_ps(_mm256_load_ps(upper + i), _mm256_set1_ps(bar), _CMP_GE_OQ)));
        for (; worthy != 0; worthy &= worthy - 1) {
            std::uint32_t at = i + static_cast<std::uint32_t>(__builtin_ctz(worthy));
            if (at < splits) consider(at);
        }
    }
#else
    for (std::uint32_t i = 0; i < splits; ++i) consider(i);
#endif
}

ScanResult scan(const Packed* histogram, std::uint32_t bins, Packed total, const ScanScale& scale) {
    ScanResult result;
    scan_side(histogram, bins, total, 0, false, scale, result);
    if (histogram[0] != 0) scan_side(histogram, bins, total, histogram[0], true, scale, result);
    return result;
}

template <class Bin, class GoesLeft>
[[gnu::always_inline]] inline std::size_t mark(const Bin* column, RowSet rows, std::uint64_t* marks,
                                               GoesLeft goes_left) {
    std::size_t total = 0;
    for (std::size_t begin = 0; begin < rows.count; begin += 64) {
        std::size_t size = rows.count - begin < 64 ? rows.count - begin : 64;
        std::uint64_t word = 0;
        if (rows.rows != nullptr) {
            const std::uint32_t* row = rows.rows + begin;
            for (std::size_t i = 0; i < size; ++i)
                word |= std::uint64_t{goes_left(column[row[i]])} << i;
        } else {
            const Bin* bins = column + rows.first + begin;
            for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{goes_left(bins[i])} << i;
        }
        marks[begin / 64] = word;
        total += static_cast<std::size_t>(__builtin_popcountll(word));
    }
    return total;
}

std::size_t mark_below(const std::uint8_t* column, RowSet rows, std::uint8_t shift,
                       std::uint8_t bound, std::uint64_t* marks) {
    return mark(column, rows, marks,
                [=](std::uint8_t bin) { return static_cast<std::uint8_t>(bin - shift) <= bound; });
}

std::size_t mark_table(const std::uint8_t* column, RowSet rows, const std::uint8_t* goes_left,
                       std::uint64_t* marks) {
    return mark(column, rows, marks, [=](std::uint8_t bin) { return goes_left[bin] != 0; });
}

std::size_t mark_wide(const std::uint16_t* column, RowSet rows, const std::uint8_t* goes_left,
                      std::uint64_t* marks) {
    return mark(column, rows, marks, [=](std::uint16_t bin) { return goes_left[bin] != 0; });
}

#if defined(__AVX2__)

// For each byte of marks, the lanes that are set, in order, then the others.
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

// One row at a time, without a branch: both ends advance, one of them by nothing.
inline void split_few(RowSet rows, std::size_t begin, std::size_t end, const std::uint64_t* marks,
                      std::uint32_t*& left, std::uint32_t*& right) {
    for (std::size_t i = begin; i < end; ++i) {
        bool goes_left = marks[i / 64] >> (i % 64) & 1;
        std::uint32_t* at = goes_left ? left : right;
        *at = rows.rows != nullptr ? rows.rows[i] : static_cast<std::uint32_t>(rows.first + i);
        left += goes_left;
        right += !goes_left;
    }
}

void split_rows(RowSet rows, const std::uint64_t* marks, std::uint32_t* left,
                std::uint32_t* right) {
    std::size_t i = 0;
#if defined(__AVX2__)
    // Eight rows at once: a permutation brings those that go left to the front and the others
    // behind them. A store writes eight entries though fewer are meant, so the last ones of each
    // side are left to the loop above, which writes nothing beyond.
    std::size_t lefts = 0;
    for (std::size_t word = 0; word < (rows.count + 63) / 64; ++word)
        lefts += static_cast<std::size_t>(__builtin_popcountll(marks[word]));
    const std::uint32_t* left_end = left + lefts;
    const std::uint32_t* right_end = right + (rows.count - lefts);
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

const GrowKernels grow_kernels = {tile_histogram, wide_histogram, add,       subtract,  scan,
                                  mark_below,     mark_table,     mark_wide, split_rows};

}  // namespace bosquet::BOSQUET_ISA
