#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "trees/kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

#if defined(__AVX512BW__)
constexpr std::size_t kWidth = 64;
#elif defined(__AVX2__)
constexpr std::size_t kWidth = 32;
#else
constexpr std::size_t kWidth = 16;
#endif
constexpr std::size_t kVectors = kLineRows / kWidth;

typedef std::int8_t Bytes __attribute__((vector_size(kWidth)));
typedef std::uint8_t Numbers __attribute__((vector_size(kWidth)));
typedef std::uint32_t Words __attribute__((vector_size(kWidth)));

inline Bytes broadcast(std::uint32_t four) { return (Bytes)(Words{} + four); }
inline Bytes& vector_at(std::uint8_t* line, std::size_t vector) {
    return reinterpret_cast<Bytes*>(line)[vector];
}
inline Bytes read(const std::uint8_t* line, std::size_t vector) {
    return reinterpret_cast<const Bytes*>(line)[vector];
}

// Computes the lines of all splits bottom-up. Fields are copied to local variables first: the
// compiler has to assume that a store of bytes changes them.
void evaluate_splits(const ByteTree& tree, const std::uint8_t* lines, std::uint8_t* picks) {
    std::uint8_t* out = picks + pick_offset(0);
    const LeafPairSplit* pair_end = tree.leaf_pairs + tree.leaf_pair_count;
    for (const LeafPairSplit* pair = tree.leaf_pairs; pair != pair_end; ++pair, out += kLineRows) {
        Bytes bound = broadcast(pair->bound);
        auto first = (Numbers)broadcast(
            pair->first_leaf);  // unsigned, because 127 + 1 overflows a signed byte
        const std::uint8_t* codes = lines + pair->line;
        for (std::size_t v = 0; v < kVectors; ++v)
            vector_at(out, v) = (Bytes)(first - (Numbers)(read(codes, v) > bound));
    }
    const ByteSplit* split_end = tree.splits + tree.split_count;
    for (const ByteSplit* split = tree.splits; split != split_end; ++split, out += kLineRows) {
        Bytes bound = broadcast(split->bound);
        const std::uint8_t* codes = lines + split->line;
        const std::uint8_t *left = picks + split->left, *right = picks + split->right;
        for (std::size_t v = 0; v < kVectors; ++v)
            vector_at(out, v) = read(codes, v) > bound ? read(right, v) : read(left, v);
    }
}

#if defined(__AVX2__)

// A set of 256 bits has 32 bytes. The upper five bits of a code select the byte, with two shuffles
// of 16 bytes and the highest bit of the code. The lower three bits select the bit.
void test_categories(const CategoryTest& test, std::uint8_t* lines) {
    auto half = [&](int i) {
        return _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(test.left_set + 16 * i)));
    };
    __m256i low = half(0), high = half(1);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
    for (std::size_t i = 0; i < kLineRows; i += 32) {
        __m256i code = _mm256_load_si256(reinterpret_cast<const __m256i*>(lines + test.line + i));
        __m256i byte = _mm256_and_si256(_mm256_srli_epi16(code, 3), _mm256_set1_epi8(15));
        __m256i set = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, byte),
                                         _mm256_shuffle_epi8(high, byte), code);
        __m256i bit = _mm256_shuffle_epi8(bit_of, _mm256_and_si256(code, _mm256_set1_epi8(7)));
        _mm256_store_si256(reinterpret_cast<__m256i*>(lines + test.result + i),
                           _mm256_cmpeq_epi8(_mm256_and_si256(set, bit), bit));
    }
}

#else

void test_categories(const CategoryTest& test, std::uint8_t* lines) {
    for (std::size_t i = 0; i < kLineRows; ++i) {
        unsigned code = lines[test.line + i];
        unsigned in_set = test.left_set[code / 8] >> (code % 8) & 1u;
        lines[test.result + i] = static_cast<std::uint8_t>(0u - in_set);
    }
}

#endif

void add_values(const std::uint8_t* leaves, const double* values, double* sums) {
    for (std::size_t i = 0; i < kLineRows; i += 4) {
        double a = values[leaves[i]], b = values[leaves[i + 1]];
        double c = values[leaves[i + 2]], d = values[leaves[i + 3]];
        sums[i] += a;
        sums[i + 1] += b;
        sums[i + 2] += c;
        sums[i + 3] += d;
    }
}

const std::uint8_t* pick_leaves(const ByteTree& tree, std::uint8_t* lines, std::uint8_t* picks) {
    for (std::uint32_t i = 0; i < tree.test_count; ++i) test_categories(tree.tests[i], lines);
    evaluate_splits(tree, lines, picks);
    std::uint32_t splits = tree.leaf_pair_count + tree.split_count;
    return splits == 0 ? picks : picks + pick_offset(splits - 1);
}

void add_tree(const ByteTree& tree, std::uint8_t* lines, std::uint8_t* picks, double* sums) {
    add_values(pick_leaves(tree, lines, picks), tree.leaf_values, sums);
}

// Flipping the highest bit makes signed bytes compare like unsigned ones.
void place_missing_left(const std::uint8_t* codes, std::uint8_t* line) {
    for (std::size_t i = 0; i < kLineRows; ++i) line[i] = codes[i] ^ 0x80;
}

// Subtracting 1 wraps 0 (missing) around to the largest code.
void place_missing_right(const std::uint8_t* codes, std::uint8_t* line) {
    for (std::size_t i = 0; i < kLineRows; ++i)
        line[i] = static_cast<std::uint8_t>(codes[i] - 1) ^ 0x80;
}

}  // namespace

const TreeKernels tree_kernels = {pick_leaves, add_tree, place_missing_left, place_missing_right};

}  // namespace bosquet::BOSQUET_ISA
