// The inner loops of growing a tree, compiled once per instruction set.
#include "grow/kernels.hpp"

#include <cstring>
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

template <int... Counts>
struct Sequence {};
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

// Scores of the splits behind bins 1 .. bins - 1, with `before` (the missing values or nothing) put
// on the left; keeps the best in `result`, the earlier one where two are equal.
void scan_side(const Packed* histogram, std::uint32_t bins, Packed total, Packed before,
               bool missing_left, const ScanScale& scale, ScanResult& result) {
    alignas(64) Packed left[256];
    alignas(64) double scores[256];
    Packed sum = before;
    for (std::uint32_t bin = 1; bin < bins; ++bin) {
        sum += histogram[bin];
        left[bin - 1] = sum;
    }
    double total_g = gradient_of(total) * scale.gradient_unit;
    std::int32_t total_h = hessian_of(total);
    std::int32_t least = scale.least_hessian;
    double best = result.score;
    for (std::uint32_t i = 0; i + 1 < bins; ++i) {
        std::int32_t h = hessian_of(left[i]);
        double left_g = gradient_of(left[i]) * scale.gradient_unit;
        double left_h = h * scale.hessian_unit + scale.l2;
        double right_h = (total_h - h) * scale.hessian_unit + scale.l2;
        double score = split_score(left_g, left_h, total_g - left_g, right_h);
        bool admissible = (h >= least) & (total_h - h >= least);
        scores[i] = admissible ? score : -1.0;
    }
    double top = -1;
    for (std::uint32_t i = 0; i + 1 < bins; ++i) top = scores[i] > top ? scores[i] : top;
    if (!(top > best)) return;
    std::uint32_t at = 0;
    while (scores[at] != top) ++at;
    result = {top, at + 1, missing_left, left[at]};
}

ScanResult scan(const Packed* histogram, std::uint32_t bins, Packed total, const ScanScale& scale) {
    ScanResult result;
    scan_side(histogram, bins, total, 0, false, scale, result);
    if (histogram[0] != 0) scan_side(histogram, bins, total, histogram[0], true, scale, result);
    return result;
}

template <class Bin, class GoesLeft>
[[gnu::always_inline]] inline std::size_t mark(const Bin* column, RowSet rows,
                                               std::uint64_t* marks, GoesLeft goes_left) {
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
    return mark(column, rows, marks, [=](std::uint8_t bin) {
        return static_cast<std::uint8_t>(bin - shift) <= bound;
    });
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
    // Eight rows at once: a permutation brings those that go left to the front and the others behind
    // them. A store writes eight entries though fewer are meant, so the last ones of each side are
    // left to the loop above, which writes nothing beyond.
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

const GrowKernels grow_kernels = {tile_histogram, wide_histogram, add,        subtract,  scan,
                                  mark_below,     mark_table,     mark_wide, split_rows};

}  // namespace bosquet::BOSQUET_ISA
