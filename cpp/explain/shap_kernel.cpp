#include <cstddef>
#include <cstdint>

#include "explain/kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

#if defined(__AVX512BW__)
constexpr std::size_t kWidth = 8;
#elif defined(__AVX2__)
constexpr std::size_t kWidth = 4;
#else
constexpr std::size_t kWidth = 2;
#endif
constexpr std::size_t kVectors = kShapRows / kWidth;

typedef double Doubles __attribute__((vector_size(kWidth * sizeof(double)), may_alias));
typedef std::int64_t Mask __attribute__((vector_size(kWidth * sizeof(double)), may_alias));

// Every lane sees the same operations in the same order for any vector width.
inline Doubles broadcast(double value) { return value - Doubles{}; }

struct Lanes {
    Doubles v[kVectors];
};
struct Masks {
    Mask v[kVectors];
};

inline bool any(const Masks& mask) {
    Mask or_all = mask.v[0];
    for (std::size_t i = 1; i < kVectors; ++i) or_all |= mask.v[i];
    std::int64_t bits = 0;
    for (std::size_t i = 0; i < kWidth; ++i) bits |= or_all[i];
    return bits != 0;
}

// With kPoints = 0 the number of points is that of the tree. Otherwise it is known at compile time,
// so that loops are unrolled: trees with up to 16 features on a path then take two thirds of the
// time.
template <std::size_t kPoints>
class Walk {
  public:
    Walk(const ShapTree& tree, const double* values, double* workspace, double* phi, double* pairs,
         std::size_t slots)
        : tree_(tree), values_(values), phi_(phi), pairs_(pairs), slots_(slots) {
        std::size_t levels = tree.depth + 1, lines = levels * tree.points;
        met_ = reinterpret_cast<Masks*>(workspace);
        products_ = reinterpret_cast<Lanes*>(workspace) + levels;
        ratios_ = products_ + lines;
        sums_ = ratios_ + lines;
        frames_ = reinterpret_cast<Frame*>(sums_ + lines * tree.values_per_leaf);
        for (std::size_t i = 0; i < kVectors; ++i) {
            met_[0].v[i] = ~Mask{};
            for (std::size_t q = 0; q < points(); ++q) products_[q].v[i] = broadcast(1.0);
        }
    }

    // Traverses the whole tree, depth first. A tree may have tens of thousands of levels, so that
    // the splits on the path are stored in `frames_` and not on the call stack.
    void run() {
        std::size_t level = 0;
        frames_[0] = {0, 0};
        while (true) {
            Frame& frame = frames_[level];
            if (frame.side < 2) {
                if (enter_side(frame, level)) {
                    std::int32_t child = tree_.splits[frame.split].child[frame.side];
                    frames_[++level] = {static_cast<std::uint32_t>(child), 0};
                } else {
                    ++frame.side;
                }
                continue;
            }
            // Both sides are done: the sums of `level` hold the total of the leaves below.
            if (level == 0) return;
            Frame& above = frames_[--level];
            credit(tree_.splits[above.split], above.split, above.side, level);
            ++above.side;
        }
    }

  private:
    struct Frame {
        std::uint32_t split, side;  // the side that is visited now; 2: both are done
    };

    // Visits one side of a split. Returns true if it leads to another split, which has to be
    // visited first.
    bool enter_side(const Frame& frame, std::size_t level) {
        const ShapSplit& shap_split = tree_.splits[frame.split];
        std::size_t split = frame.split, side = frame.side;
        Masks& met = met_[level + 1];
        if (side == 0) {
            Masks left = goes_left(shap_split);
            for (std::size_t i = 0; i < kVectors; ++i)
                met.v[i] = met_[shap_split.before].v[i] & left.v[i];
        } else {
            // The rows that satisfied the conditions so far and did not go left.
            for (std::size_t i = 0; i < kVectors; ++i)
                met.v[i] = met_[shap_split.before].v[i] & ~met.v[i];
        }
        if (tree_.shares[2 * split + side] == 0 && !any(met)) {
            if (side == 0) clear_sums(level);
            return false;
        }
        std::int32_t child = shap_split.child[side];
        if (child < 0 && pairs_ == nullptr && tree_.values_per_leaf == 1) {
            add_leaf_edge(shap_split, split, side, level);
            return false;
        }
        descend(shap_split, split, side, level);
        if (child >= 0) return true;
        take_leaf(static_cast<std::size_t>(-1 - child), level + 1);
        credit(shap_split, split, side, level);
        return false;
    }

    Masks goes_left(const ShapSplit& shap_split) const {
        const double* line = values_ + shap_split.value_line * kShapRows;
        Masks left;
        if (shap_split.categories == 0) {
            for (std::size_t i = 0; i < kVectors; ++i)
                left.v[i] = *reinterpret_cast<const Doubles*>(line + i * kWidth) <=
                            broadcast(shap_split.threshold);
            return left;
        }
        for (std::size_t row = 0; row < kShapRows; ++row) {
            double x = line[row];
            bool goes = shap_split.missing_left;
            if (x >= 0 && x < shap_split.categories) {
                std::uint32_t code = static_cast<std::uint32_t>(x), word = code / 32;
                goes = word < shap_split.set_words &&
                       (tree_.sets[shap_split.set_begin + word] >> (code % 32) & 1u) != 0;
            }
            left.v[row / kWidth][row % kWidth] = goes ? -1 : 0;
        }
        return left;
    }

    std::size_t points() const { return kPoints > 0 ? kPoints : tree_.points; }
    Lanes* products(std::size_t level) { return products_ + level * points(); }
    Lanes* ratios(std::size_t level) { return ratios_ + level * points(); }
    Lanes* sums(std::size_t level, std::size_t value) {
        return sums_ + (level * tree_.values_per_leaf + value) * points();
    }

    void clear_sums(std::size_t level) {
        Lanes* to = sums(level, 0);
        for (std::size_t q = 0; q < points() * tree_.values_per_leaf; ++q) to[q] = Lanes{};
    }

    void descend(const ShapSplit& shap_split, std::size_t split, std::size_t side,
                 std::size_t level) {
        EdgeNumbers edge = tree_.edge(split, side);
        const Masks& met = met_[level + 1];
        const Lanes* from = products(level);
        Lanes* to = products(level + 1);
        if (shap_split.before == 0) {
            for (std::size_t q = 0; q < points(); ++q) {
                Doubles meets = broadcast(edge.meets[q]), fails = broadcast(edge.fails[q]);
                for (std::size_t i = 0; i < kVectors; ++i)
                    to[q].v[i] = from[q].v[i] * (met.v[i] ? meets : fails);
            }
        } else {
            // For a row that failed a condition above, only the share of this edge counts.
            const Masks& above = met_[shap_split.before];
            Doubles share = broadcast(tree_.shares[2 * split + side]);
            for (std::size_t q = 0; q < points(); ++q) {
                Doubles meets = broadcast(edge.meets[q]), fails = broadcast(edge.fails[q]);
                for (std::size_t i = 0; i < kVectors; ++i)
                    to[q].v[i] = from[q].v[i] * (met.v[i] ? meets : (above.v[i] ? fails : share));
            }
        }
        if (pairs_ == nullptr) return;
        Lanes* ratio = ratios(level + 1);
        for (std::size_t q = 0; q < points(); ++q)
            for (std::size_t i = 0; i < kVectors; ++i)
                ratio[q].v[i] =
                    met.v[i] ? broadcast(edge.ratio_meets[q]) : broadcast(tree_.ratio_fails[q]);
    }

    void take_leaf(std::size_t leaf, std::size_t level) {
        const Lanes* product = products(level);
        for (std::size_t k = 0; k < tree_.values_per_leaf; ++k) {
            Doubles value = broadcast(tree_.leaves[leaf * tree_.values_per_leaf + k]);
            Lanes* to = sums(level, k);
            for (std::size_t q = 0; q < points(); ++q)
                for (std::size_t i = 0; i < kVectors; ++i) to[q].v[i] = value * product[q].v[i];
        }
    }

    // Handles an edge to a leaf with one value, which half of all edges are, in a single step
    // without storing intermediate results.
    void add_leaf_edge(const ShapSplit& shap_split, std::size_t split, std::size_t side,
                       std::size_t level) {
        EdgeNumbers edge = tree_.edge(split, side);
        const Masks met = met_[level + 1], above = met_[shap_split.before];
        const Lanes* from = products(level);
        Lanes* to = sums(level, 0);
        Doubles value = broadcast(tree_.leaves[-1 - shap_split.child[side]]);
        Doubles share = broadcast(tree_.shares[2 * split + side]);
        bool first = shap_split.before == 0;
        Lanes added{};
        for (std::size_t q = 0; q < points(); ++q) {
            Doubles meets = broadcast(edge.meets[q]), fails = broadcast(edge.fails[q]);
            Doubles gain_meets = broadcast(edge.gain_meets[q]),
                    gain_fails = broadcast(edge.gain_fails[q]);
            for (std::size_t i = 0; i < kVectors; ++i) {
                Doubles factor = met.v[i] ? meets : fails;
                Doubles gain = met.v[i] ? gain_meets : gain_fails;
                if (!first) {
                    factor = above.v[i] ? factor : share;
                    gain = (Doubles)((Mask)gain & above.v[i]);
                }
                Doubles sum = value * (from[q].v[i] * factor);
                to[q].v[i] = side == 0 ? sum : to[q].v[i] + sum;
                added.v[i] += sum * gain;
            }
        }
        Lanes& phi = *reinterpret_cast<Lanes*>(phi_ + shap_split.slot * kShapRows);
        for (std::size_t i = 0; i < kVectors; ++i) phi.v[i] += added.v[i];
    }

    // Adds the sum below an edge to the value of the edge's feature and to the sum of the split
    // above.
    void credit(const ShapSplit& shap_split, std::size_t split, std::size_t side,
                std::size_t level) {
        EdgeNumbers edge = tree_.edge(split, side);
        const Masks &met = met_[level + 1], &above = met_[shap_split.before];
        for (std::size_t k = 0; k < tree_.values_per_leaf; ++k) {
            Lanes* below = sums(level + 1, k);
            Lanes* to = sums(level, k);
            Lanes added{};
            for (std::size_t q = 0; q < points(); ++q) {
                Doubles meets = broadcast(edge.gain_meets[q]),
                        fails = broadcast(edge.gain_fails[q]);
                for (std::size_t i = 0; i < kVectors; ++i) {
                    Doubles sum = below[q].v[i];
                    Doubles gain = met.v[i] ? meets : fails;
                    gain = (Doubles)((Mask)gain & above.v[i]);
                    to[q].v[i] = side == 0 ? sum : to[q].v[i] + sum;
                    // The contributions, which pairs need, replace the sum.
                    below[q].v[i] = sum * gain;
                    added.v[i] += below[q].v[i];
                }
            }
            Lanes& phi = *reinterpret_cast<Lanes*>(
                phi_ + (shap_split.slot * tree_.values_per_leaf + k) * kShapRows);
            for (std::size_t i = 0; i < kVectors; ++i) phi.v[i] += added.v[i];
            if (pairs_ != nullptr) credit_pairs(shap_split, below, k);
        }
    }

    void credit_pairs(const ShapSplit& shap_split, const Lanes* gains, std::size_t k) {
        const PathFeature* other = tree_.paths + shap_split.path_begin;
        for (const PathFeature* end = other + shap_split.path_count; other != end; ++other) {
            const Lanes* ratio = ratios(other->level);
            Lanes added{};
            for (std::size_t q = 0; q < points(); ++q)
                for (std::size_t i = 0; i < kVectors; ++i)
                    added.v[i] += gains[q].v[i] * ratio[q].v[i];
            std::size_t index =
                (shap_split.slot * slots_ + other->slot) * tree_.values_per_leaf + k;
            Lanes& pair = *reinterpret_cast<Lanes*>(pairs_ + index * kShapRows);
            for (std::size_t i = 0; i < kVectors; ++i) pair.v[i] += added.v[i];
        }
    }

    const ShapTree& tree_;
    const double* values_;
    double *phi_, *pairs_;
    std::size_t slots_;
    Masks* met_;  // [level]: rows that satisfy all conditions so far on the feature of the edge
                  // that ends here
    Lanes* products_;  // [level][point]
    Lanes* ratios_;    // [level][point]
    Lanes* sums_;      // [level][value][point]
    Frame* frames_;    // [level]: the splits on the path
};

void add_tree(const ShapTree& tree, const double* values, double* workspace, double* phi,
              double* pairs, std::size_t slots) {
    if (tree.single_leaf) return;
    auto walk = [&]<std::size_t points>() {
        Walk<points>(tree, values, workspace, phi, pairs, slots).run();
    };
    switch (tree.points) {
        case 1:
            return walk.template operator()<1>();
        case 2:
            return walk.template operator()<2>();
        case 3:
            return walk.template operator()<3>();
        case 4:
            return walk.template operator()<4>();
        case 5:
            return walk.template operator()<5>();
        case 6:
            return walk.template operator()<6>();
        case 7:
            return walk.template operator()<7>();
        case 8:
            return walk.template operator()<8>();
        default:
            return walk.template operator()<0>();
    }
}

}  // namespace

const ShapKernels shap_kernels = {add_tree};

}  // namespace bosquet::BOSQUET_ISA
