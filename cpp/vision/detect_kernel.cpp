#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vision/detect_kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

#if defined(__AVX512BW__)
constexpr std::size_t kWidth = 16;
#elif defined(__AVX2__)
constexpr std::size_t kWidth = 8;
#else
constexpr std::size_t kWidth = 4;
#endif

typedef std::int32_t Ints __attribute__((vector_size(kWidth * 4), may_alias));
typedef std::uint32_t Words __attribute__((vector_size(kWidth * 4), may_alias));
typedef float Floats __attribute__((vector_size(kWidth * 4), may_alias));
typedef double HalfDoubles __attribute__((vector_size(kWidth * 4), may_alias));

#define ALWAYS_INLINE inline __attribute__((always_inline))

ALWAYS_INLINE Words load(const std::int32_t* from) {
    Words out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

ALWAYS_INLINE Floats broadcast(float value) { return value - Floats{}; }

ALWAYS_INLINE Floats choose(Ints mask, Floats yes, Floats no) {
    return reinterpret_cast<Floats>((mask & reinterpret_cast<Ints>(yes)) |
                                    (~mask & reinterpret_cast<Ints>(no)));
}

ALWAYS_INLINE std::uint32_t bits_of(Ints mask) {
#if defined(__AVX512BW__)
    return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask));
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#else
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kWidth; ++i) bits |= static_cast<std::uint32_t>(mask[i] & 1) << i;
    return bits;
#endif
}

// One double per window, in two vectors: compilers split a vector of twice the width by way of
// memory.
struct Doubles {
    HalfDoubles low = {}, high = {};

    ALWAYS_INLINE void add(Floats terms) {
#if defined(__AVX512BW__)
        low += _mm512_cvtps_pd(_mm512_castps512_ps256(terms));
        high += _mm512_cvtps_pd(_mm512_extractf32x8_ps(terms, 1));
#elif defined(__AVX2__)
        low += _mm256_cvtps_pd(_mm256_castps256_ps128(terms));
        high += _mm256_cvtps_pd(_mm256_extractf128_ps(terms, 1));
#else
        for (std::size_t i = 0; i < kWidth / 2; ++i) {
            low[i] += terms[i];
            high[i] += terms[i + kWidth / 2];
        }
#endif
    }
    ALWAYS_INLINE void store(double out[kWidth]) const {
        std::memcpy(out, &low, sizeof low);
        std::memcpy(out + kWidth / 2, &high, sizeof high);
    }
    // One bit per window, set if its sum is at least the threshold.
    ALWAYS_INLINE std::uint32_t at_least(double threshold) const {
#if defined(__AVX512BW__)
        __m512d limit = _mm512_set1_pd(threshold);
        return static_cast<std::uint32_t>(_mm512_cmp_pd_mask(low, limit, _CMP_GE_OQ)) |
               static_cast<std::uint32_t>(_mm512_cmp_pd_mask(high, limit, _CMP_GE_OQ)) << 8;
#elif defined(__AVX2__)
        __m256d limit = _mm256_set1_pd(threshold);
        return static_cast<std::uint32_t>(
            _mm256_movemask_pd(_mm256_cmp_pd(low, limit, _CMP_GE_OQ)) |
            _mm256_movemask_pd(_mm256_cmp_pd(high, limit, _CMP_GE_OQ)) << 4);
#else
        double sums[kWidth];
        store(sums);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < kWidth; ++i)
            bits |= static_cast<std::uint32_t>(sums[i] >= threshold) << i;
        return bits;
#endif
    }
};

// Integral images wrap around; the sum of a box is correct modulo 2^32.
ALWAYS_INLINE Ints box_sums(const std::int32_t offsets[4], const std::int32_t* row) {
    return reinterpret_cast<Ints>(load(row + offsets[0]) - load(row + offsets[1]) -
                                  load(row + offsets[2]) + load(row + offsets[3]));
}

// Single precision and this order give the same bits as OpenCV's detector.
ALWAYS_INLINE Floats values(const ScanNode& node, const std::int32_t* row) {
    Floats sum = broadcast(node.weight[0]) *
                     __builtin_convertvector(box_sums(node.corner_offsets[0], row), Floats) +
                 broadcast(node.weight[1]) *
                     __builtin_convertvector(box_sums(node.corner_offsets[1], row), Floats);
    if (node.weight[2] != 0.0f)
        sum += broadcast(node.weight[2]) *
               __builtin_convertvector(box_sums(node.corner_offsets[2], row), Floats);
    return sum;
}

ALWAYS_INLINE float value(const ScanNode& node, const std::int32_t* window) {
    float sum = 0.0f;
    for (std::size_t b = 0; b < 3; ++b) {
        if (b == 2 && node.weight[b] == 0.0f) break;
        const std::int32_t* offsets = node.corner_offsets[b];
        std::uint32_t box = static_cast<std::uint32_t>(window[offsets[0]]) -
                            static_cast<std::uint32_t>(window[offsets[1]]) -
                            static_cast<std::uint32_t>(window[offsets[2]]) +
                            static_cast<std::uint32_t>(window[offsets[3]]);
        float term = node.weight[b] * static_cast<float>(static_cast<std::int32_t>(box));
        sum = b == 0 ? term : sum + term;
    }
    return sum;
}

// The inverse of the standard deviation of each window (times the area of the frame), and which
// windows are not flat.
struct Norms {
    float factor[kWidth];
    std::uint32_t usable;
};

ALWAYS_INLINE Norms norms(const ScanCascade& cascade, const std::int32_t* row) {
    Ints frame_sums = box_sums(cascade.frame, row);
    Ints frame_squares = box_sums(cascade.frame, row + cascade.squares);
    std::int32_t sums[kWidth], squares[kWidth];
    std::memcpy(sums, &frame_sums, sizeof sums);
    std::memcpy(squares, &frame_squares, sizeof squares);
    Norms out;
    out.usable = 0;
    double scatter[kWidth];
    for (std::size_t i = 0; i < kWidth; ++i) {
        double sum = sums[i];
        // Unsigned to double by way of signed, which every instruction set supports.
        double square = static_cast<double>(squares[i] ^ INT32_MIN) + 2147483648.0;
        scatter[i] = cascade.area * square - sum * sum;
    }
    for (std::size_t i = 0; i < kWidth; ++i)
        out.factor[i] = static_cast<float>(1.0 / __builtin_sqrt(scatter[i]));
    for (std::size_t i = 0; i < kWidth; ++i) {
        bool usable = scatter[i] > 0 && cascade.area * static_cast<double>(out.factor[i]) < 1e-1;
        out.usable |= static_cast<std::uint32_t>(usable) << i;
    }
    return out;
}

ALWAYS_INLINE void add_tree(const ScanCascade& cascade, const ScanTree& tree,
                            const std::int32_t* row, Floats factor, Doubles& sum) {
    // Which windows reach each node. Nodes come after their parents. A tree with more nodes is
    // walked window by window (see stage_sums).
    Ints reaching[64];
    reaching[0] = ~Ints{};
    for (std::uint32_t n = 1; n < tree.node_count; ++n) reaching[n] = Ints{};
    const float* leaves = cascade.leaves + tree.leaf_begin;
    Floats result = Floats{};
    for (std::uint32_t n = 0; n < tree.node_count; ++n) {
        if (n > 0 && bits_of(reaching[n]) == 0) continue;
        const ScanNode& node = cascade.nodes[tree.node_begin + n];
        Ints less = values(node, row) * factor < broadcast(node.threshold);
        Ints left = reaching[n] & less, right = reaching[n] & ~less;
        if (node.left > 0)
            reaching[node.left] = left;
        else
            result = choose(left, broadcast(leaves[-node.left]), result);
        if (node.right > 0)
            reaching[node.right] = right;
        else
            result = choose(right, broadcast(leaves[-node.right]), result);
    }
    sum.add(result);
}

float walk_tree(const ScanCascade& cascade, const ScanTree& tree, const std::int32_t* window,
                float factor) {
    std::int32_t node_index = 0;
    do {
        const ScanNode& node =
            cascade.nodes[tree.node_begin + static_cast<std::uint32_t>(node_index)];
        node_index = value(node, window) * factor < node.threshold ? node.left : node.right;
    } while (node_index > 0);
    return cascade.leaves[tree.leaf_begin + static_cast<std::uint32_t>(-node_index)];
}

double stage_sum(const ScanCascade& cascade, const ScanStage& stage, const std::int32_t* window,
                 float factor) {
    double sum = 0;
    if (stage.stumps) {
        const ScanTree& first = cascade.trees[stage.tree_begin];
        const ScanNode* node = cascade.nodes + first.node_begin;
        const float* leaf = cascade.leaves + first.leaf_begin;
        // The leaf is unpredictable: an index avoids mispredicted branches.
        for (std::uint32_t t = 0; t < stage.tree_count; ++t, ++node, leaf += 2)
            sum += leaf[!(value(*node, window) * factor < node->threshold)];
        return sum;
    }
    for (std::uint32_t t = 0; t < stage.tree_count; ++t)
        sum += walk_tree(cascade, cascade.trees[stage.tree_begin + t], window, factor);
    return sum;
}

ALWAYS_INLINE Doubles stage_sums(const ScanCascade& cascade, const ScanStage& stage,
                                 const std::int32_t* row, Floats factor) {
    Doubles sum;
    if (stage.stumps) {
        const ScanTree& first = cascade.trees[stage.tree_begin];
        const ScanNode* node = cascade.nodes + first.node_begin;
        const float* leaf = cascade.leaves + first.leaf_begin;
        for (std::uint32_t t = 0; t < stage.tree_count; ++t, ++node, leaf += 2) {
            Ints less = values(*node, row) * factor < broadcast(node->threshold);
            sum.add(choose(less, broadcast(leaf[0]), broadcast(leaf[1])));
        }
        return sum;
    }
    for (std::uint32_t t = 0; t < stage.tree_count; ++t) {
        const ScanTree& tree = cascade.trees[stage.tree_begin + t];
        if (tree.node_count <= 64) {
            add_tree(cascade, tree, row, factor, sum);
        } else {
            Floats results;
            for (std::size_t i = 0; i < kWidth; ++i)
                results[i] = walk_tree(cascade, tree, row + i, factor[i]);
            sum.add(results);
        }
    }
    return sum;
}

// While more windows of a vector than this are left, they are evaluated together; a single window
// is faster on its own.
constexpr int kMaxSeparate = 1;

struct Lanes {
    std::uint32_t depth[kWidth];
    double sum[kWidth];
};

// Evaluates the stages from the second on for the windows in `alive`. Sums are stored for windows
// that pass `min_depth` stages.
ALWAYS_INLINE void run_stages(const ScanCascade& cascade, const std::int32_t* row,
                              const Norms& norm, std::uint32_t alive, std::uint32_t min_depth,
                              Lanes& lanes) {
    Floats factor;
    std::memcpy(&factor, norm.factor, sizeof factor);
    std::uint32_t stage = 1;
    for (; stage < cascade.stage_count && __builtin_popcount(alive) > kMaxSeparate; ++stage) {
        Doubles sum = stage_sums(cascade, cascade.stages[stage], row, factor);
        std::uint32_t pass = sum.at_least(cascade.stages[stage].threshold);
        if (stage >= min_depth || stage + 1 == cascade.stage_count) {
            double sums[kWidth];
            sum.store(sums);
            for (std::uint32_t left = alive; left != 0; left &= left - 1) {
                int i = __builtin_ctz(left);
                lanes.sum[i] = sums[i];
            }
        }
        for (std::uint32_t failed = alive & ~pass; failed != 0; failed &= failed - 1)
            lanes.depth[__builtin_ctz(failed)] = stage;
        alive &= pass;
    }
    for (std::uint32_t left = alive; left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);
        std::uint32_t depth = stage;
        for (; depth < cascade.stage_count; ++depth) {
            lanes.sum[i] = stage_sum(cascade, cascade.stages[depth], row + i, norm.factor[i]);
            if (lanes.sum[i] < static_cast<double>(cascade.stages[depth].threshold)) break;
        }
        lanes.depth[i] = depth;
    }
}

std::size_t scan_row(const ScanCascade& cascade, const std::int32_t* row, std::size_t count,
                     std::uint32_t min_depth, RowHit* out, std::uint64_t* visited) {
    std::size_t hits = 0;
    std::uint32_t skip = 0;  // whether the first window of the vector is skipped
    for (std::size_t begin = 0; begin < count; begin += kWidth, row += kWidth) {
        std::uint32_t inside =
            count - begin >= kWidth ? (1u << kWidth) - 1 : (1u << (count - begin)) - 1;
        Norms norm = norms(cascade, row);
        norm.usable &= inside;
        std::uint32_t evaluated = inside, alive = norm.usable;
        Lanes lanes;
        if (cascade.stage_count > 0) {
            if (norm.usable == 0) {
                *visited += static_cast<std::uint64_t>(__builtin_popcount(inside & ~skip));
                skip = 0;
                continue;
            }
            Floats factor;
            std::memcpy(&factor, norm.factor, sizeof factor);
            Doubles sum = stage_sums(cascade, cascade.stages[0], row, factor);
            std::uint32_t pass = sum.at_least(cascade.stages[0].threshold);
            sum.store(lanes.sum);
            std::uint32_t rejected = norm.usable & ~pass;
            evaluated = 0;
            for (std::size_t i = 0; i < kWidth; ++i) {
                std::uint32_t evaluate = skip ^ 1;
                evaluated |= evaluate << i;
                skip = evaluate & (rejected >> i);
            }
            evaluated &= inside;
            std::memset(lanes.depth, 0, sizeof lanes.depth);
            alive = evaluated & norm.usable & pass;
            if (alive != 0) run_stages(cascade, row, norm, alive, min_depth, lanes);
        } else {
            std::memset(&lanes, 0, sizeof lanes);
        }
        *visited += static_cast<std::uint64_t>(__builtin_popcount(evaluated));
        std::uint32_t reported = min_depth == 0 ? evaluated & norm.usable : alive;
        for (; reported != 0; reported &= reported - 1) {
            std::uint32_t i = static_cast<std::uint32_t>(__builtin_ctz(reported));
            if (lanes.depth[i] < min_depth) continue;
            out[hits++] = {static_cast<std::uint32_t>(begin) + i, lanes.depth[i], lanes.sum[i]};
        }
    }
    return hits;
}

void blend_rows(const std::uint8_t* __restrict above, const std::uint8_t* __restrict below,
                std::uint32_t upper, std::uint32_t lower, std::size_t width,
                std::uint16_t* __restrict out) {
    auto a = static_cast<std::uint16_t>(upper), b = static_cast<std::uint16_t>(lower);
    for (std::size_t x = 0; x < width; ++x)
        out[x] = static_cast<std::uint16_t>(above[x] * a + below[x] * b);
}

void resample_row(const std::uint16_t* __restrict row, const std::int32_t* __restrict at,
                  const std::uint32_t* __restrict pairs, std::size_t width,
                  std::uint8_t* __restrict out) {
    for (std::size_t x = 0; x < width; ++x) {
        std::uint32_t both;  // two neighbours in one load, the left one in the low half
        std::memcpy(&both, row + at[x], sizeof both);
        std::uint32_t sum = (both & 65535) * (pairs[x] & 65535) + (both >> 16) * (pairs[x] >> 16);
        out[x] = static_cast<std::uint8_t>((sum + 32768) >> 16);
    }
}

void integrate_row(const std::uint8_t* __restrict pixels, std::size_t width,
                   std::uint32_t* __restrict sums, std::uint32_t* __restrict squares) {
    std::uint32_t sum = 0, square = 0;
    for (std::size_t x = 0; x < width; ++x) {
        std::uint32_t pixel = pixels[x];
        sum += pixel;
        square += pixel * pixel;
        sums[x + 1] += sum;
        squares[x + 1] += square;
    }
}

void tilt_row(const std::uint8_t* __restrict pixels, const std::uint8_t* __restrict pixels_above,
              std::size_t width, const std::uint32_t* __restrict above,
              const std::uint32_t* __restrict twice_above, std::uint32_t* __restrict out) {
    out[0] = above[1];
    for (std::size_t x = 1; x < width; ++x)
        out[x] = above[x - 1] + above[x + 1] - twice_above[x] + pixels[x - 1] + pixels_above[x - 1];
    out[width] = above[width - 1] + pixels[width - 1] + pixels_above[width - 1];
}

void split_columns(const std::uint32_t* __restrict row, std::size_t entries,
                   std::uint32_t* __restrict even, std::uint32_t* __restrict odd) {
    std::size_t pairs = entries / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
        even[i] = row[2 * i];
        odd[i] = row[2 * i + 1];
    }
    if (entries % 2 != 0) even[pairs] = row[entries - 1];
}

}  // namespace

const DetectKernels detect_kernels = {blend_rows, resample_row,  integrate_row,
                                      tilt_row,   split_columns, scan_row};

}  // namespace bosquet::BOSQUET_ISA
