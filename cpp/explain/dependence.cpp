#include "explain/dependence.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/interrupt.hpp"
#include "parallel/team.hpp"

namespace bosquet {

namespace {

// Rows that are processed by a tree before the next tree: the tree stays in the first-level cache,
// and the curves of these rows in the second-level cache.
constexpr std::size_t kRowsPerBatch = 16;
// Means are computed over blocks of this many rows, and the blocks are added in order.
constexpr std::size_t kRowsPerMean = 1024;
constexpr std::uint32_t kNoGrid = 0xffffffff;
// Approximate time per row and tree in nanoseconds, for check_interrupt.
constexpr std::size_t kNanosecondsPerRowAndTree = 500;

bool goes_left(const Ensemble& ensemble, const Tree& tree, const Node& node, double x) {
    if (!node.categorical()) return std::isnan(x) ? node.missing_left() : x <= node.threshold();
    if (!(x >= 0 && x < ensemble.categories[node.feature()])) return node.missing_left();
    return tree.in_left_set(node, static_cast<std::uint32_t>(x));
}

struct Interval {
    std::uint32_t low, high;  // points [low, high) of a grid
    bool empty() const { return low >= high; }
    // The points that go left or right at a split where `rank` points of the grid go left.
    Interval side(bool left, std::uint32_t rank) const {
        return left ? Interval{low, std::min(high, rank)} : Interval{std::max(low, rank), high};
    }
};

// For each node that splits on a feature of a grid: the number of grid points that go left.
using Ranks = std::vector<std::uint32_t>;

class Grids {
  public:
    Grids(const Ensemble& ensemble, const std::vector<Grid>& grids)
        : grid_of_feature_(ensemble.features, kNoGrid) {
        for (const Grid& grid : grids) {
            grid_of_feature_[grid.feature] = static_cast<std::uint32_t>(sizes_.size());
            begins_.push_back(points_);
            sizes_.push_back(static_cast<std::uint32_t>(grid.points.size()));
            points_ += grid.points.size();
        }
        for (const Tree& tree : ensemble.trees) {
            Ranks& ranks = ranks_.emplace_back(tree.nodes.size());
            for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index) {
                const Node& node = tree.nodes[node_index];
                if (node.is_leaf() || grid_of(node) == kNoGrid) continue;
                const std::vector<double>& points = grids[grid_of(node)].points;
                ranks[node_index] = static_cast<std::uint32_t>(
                    std::upper_bound(points.begin(), points.end(), node.threshold()) -
                    points.begin());
            }
        }
    }
    std::uint32_t grid_of(const Node& node) const { return grid_of_feature_[node.feature()]; }
    const Ranks& ranks(std::size_t tree) const { return ranks_[tree]; }
    Interval whole(std::uint32_t grid) const { return {0, sizes_[grid]}; }
    std::size_t begin(std::uint32_t grid) const { return begins_[grid]; }
    std::size_t points() const { return points_; }
    std::size_t count() const { return sizes_.size(); }

  private:
    std::vector<std::uint32_t> grid_of_feature_, sizes_;
    std::vector<std::size_t> begins_;
    std::vector<Ranks> ranks_;
    std::size_t points_ = 0;
};

// Processes one row in one tree. Curves are stored as differences between neighbouring points until
// all trees have been added.
class RowWalk {
  public:
    RowWalk(const Ensemble& ensemble, const Grids& grids)
        : ensemble_(&ensemble), grids_(&grids), row_interval_(grids.count()) {
        for (std::uint32_t g = 0; g < grids.count(); ++g) row_interval_[g] = grids.whole(g);
    }

    void add_tree(std::size_t t, const double* row, double weight, double* steps,
                  double* constant) {
        weight_ = weight;
        tree_ = &ensemble_->trees[t];
        ranks_ = &grids_->ranks(t);
        output_ = ensemble_->vector_leaves ? 0 : t % ensemble_->outputs;
        row_ = row;
        steps_ = steps;
        touched_.clear();
        const Node* nodes = tree_->nodes.data();
        std::uint32_t node_index = 0;
        while (!nodes[node_index].is_leaf()) {
            const Node& node = nodes[node_index];
            bool left = goes_left(*ensemble_, *tree_, node, row[node.feature()]);
            std::uint32_t grid = grids_->grid_of(node), rank = (*ranks_)[node_index];
            if (grid != kNoGrid) {
                Interval other = row_interval_[grid].side(!left, rank);
                if (!other.empty()) walk_alternative(node.left + left, grid, other);
                row_interval_[grid] = row_interval_[grid].side(left, rank);
                touched_.push_back(grid);
            }
            node_index = node.left + !left;
        }
        add_own_leaf(nodes[node_index], constant);
    }

  private:
    // Walks from a node that the row reaches only with the grid's feature at a point of `interval`.
    // Uses an explicit stack, because a tree may be too deep for the call stack.
    void walk_alternative(std::uint32_t node_index, std::uint32_t grid, Interval interval) {
        const Node* nodes = tree_->nodes.data();
        stack_.clear();
        while (true) {
            const Node& node = nodes[node_index];
            if (node.is_leaf()) {
                add_leaf(node, grid, interval, 1);
                if (stack_.empty()) return;
                std::tie(node_index, interval) = stack_.back();
                stack_.pop_back();
            } else if (grids_->grid_of(node) != grid) {
                node_index = node.left + !goes_left(*ensemble_, *tree_, node, row_[node.feature()]);
            } else {
                Interval left = interval.side(true, (*ranks_)[node_index]);
                Interval right = interval.side(false, (*ranks_)[node_index]);
                if (!left.empty() && !right.empty()) stack_.push_back({node.left + 1, right});
                interval = left.empty() ? right : left;
                node_index = node.left + left.empty();
            }
        }
    }

    // Adds the row's own leaf to every point, except the points of grids that lead elsewhere.
    void add_own_leaf(const Node& leaf, double* constant) {
        double* destination = constant + output_;
        for (double value : ensemble_->values_of(*tree_, leaf)) *destination++ += weight_ * value;
        for (std::uint32_t grid : touched_) {
            Interval whole = grids_->whole(grid), reached = row_interval_[grid];
            if (reached.low == whole.low && reached.high == whole.high)
                continue;  // not restricted, or already handled
            add_leaf(leaf, grid, {0, std::min(reached.low, whole.high)}, -1);
            add_leaf(leaf, grid, {std::max(reached.low, reached.high), whole.high}, -1);
            row_interval_[grid] = whole;
        }
    }

    void add_leaf(const Node& leaf, std::uint32_t grid, Interval interval, double sign) {
        if (interval.empty()) return;
        std::size_t outputs = ensemble_->outputs;
        double* destination = steps_ + grids_->begin(grid) * outputs + output_;
        bool ends = interval.high < grids_->whole(grid).high;
        for (double value : ensemble_->values_of(*tree_, leaf)) {
            double weighted = sign * (weight_ * value);
            destination[interval.low * outputs] += weighted;
            if (ends) destination[interval.high * outputs] -= weighted;
            ++destination;
        }
    }

    const Ensemble* ensemble_;
    const Grids* grids_;
    const Tree* tree_ = nullptr;
    const Ranks* ranks_ = nullptr;
    const double* row_ = nullptr;
    double* steps_ = nullptr;
    double weight_ = 1;
    std::size_t output_ = 0;
    std::vector<Interval>
        row_interval_;  // by grid: the points for which the row takes its own path
    std::vector<std::uint32_t> touched_;  // grids whose row_interval_ may be restricted
    std::vector<std::pair<std::uint32_t, Interval>> stack_;
};

// [row][feature]
std::vector<double> read_rows(const Table& table, std::size_t begin, std::size_t count) {
    std::size_t features = table.columns.size();
    std::vector<double> rows(count * features), column(count);
    for (std::size_t f = 0; f < features; ++f) {
        read_column(table.columns[f], begin, count, column.data());
        for (std::size_t i = 0; i < count; ++i) rows[i * features + f] = column[i];
    }
    return rows;
}

// Converts differences to curves.
void accumulate_steps(const std::vector<Grid>& grids, const double* constant, std::size_t outputs,
                      double* steps) {
    for (const Grid& grid : grids) {
        for (std::size_t k = 0; k < outputs; ++k) {
            double sum = constant[k];
            for (std::size_t i = 0; i < grid.points.size(); ++i)
                steps[i * outputs + k] = sum = sum + steps[i * outputs + k];
        }
        steps += grid.points.size() * outputs;
    }
}

}  // namespace

void conditional_predictions(const Ensemble& ensemble, const Table& table,
                             const std::vector<Grid>& grids, int threads, double* out) {
    Grids indexed_grids(ensemble, grids);
    std::size_t features = ensemble.features, outputs = ensemble.outputs;
    std::size_t width = indexed_grids.points() * outputs;
    std::size_t blocks = (table.rows + kRowsPerBatch - 1) / kRowsPerBatch;
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(std::max(1, threads)))));
    team.run(blocks, [&](std::size_t index, int) {
        std::size_t begin = index * kRowsPerBatch;
        std::size_t count = std::min(kRowsPerBatch, table.rows - begin);
        std::vector<double> rows = read_rows(table, begin, count), constant;
        for (std::size_t i = 0; i < count; ++i)
            constant.insert(constant.end(), ensemble.base.begin(), ensemble.base.end());
        std::fill_n(out + begin * width, count * width, 0.0);
        RowWalk walk(ensemble, indexed_grids);
        for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
            check_interrupt(count * kNanosecondsPerRowAndTree);
            for (std::size_t i = 0; i < count; ++i)
                walk.add_tree(t, rows.data() + i * features, 1, out + (begin + i) * width,
                              constant.data() + i * outputs);
        }
        for (std::size_t i = 0; i < count; ++i)
            accumulate_steps(grids, constant.data() + i * outputs, outputs,
                             out + (begin + i) * width);
    });
}

void mean_predictions(const Ensemble& ensemble, const Table& table, const std::vector<Grid>& grids,
                      const double* weights, int threads, double* out) {
    Grids indexed_grids(ensemble, grids);
    std::size_t features = ensemble.features, outputs = ensemble.outputs;
    std::size_t width = indexed_grids.points() * outputs;
    std::size_t blocks = (table.rows + kRowsPerMean - 1) / kRowsPerMean;
    std::vector<double> sums(blocks * (width + outputs));  // per block: steps, then constants
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(std::max(1, threads)))));
    team.run(blocks, [&](std::size_t index, int) {
        double* steps = sums.data() + index * (width + outputs);
        RowWalk walk(ensemble, indexed_grids);
        std::size_t end = std::min(table.rows, (index + 1) * kRowsPerMean);
        for (std::size_t begin = index * kRowsPerMean; begin < end; begin += kRowsPerBatch) {
            std::size_t count = std::min(kRowsPerBatch, end - begin);
            std::vector<double> rows = read_rows(table, begin, count);
            for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
                check_interrupt(count * kNanosecondsPerRowAndTree);
                for (std::size_t i = 0; i < count; ++i)
                    walk.add_tree(t, rows.data() + i * features, weights[begin + i], steps,
                                  steps + width);
            }
        }
    });
    for (std::size_t index = 1; index < blocks; ++index)
        for (std::size_t i = 0; i < width + outputs; ++i)
            sums[i] += sums[index * (width + outputs) + i];
    std::copy_n(sums.begin(), width, out);
    for (std::size_t k = 0; k < outputs; ++k) sums[width + k] += ensemble.base[k];
    accumulate_steps(grids, sums.data() + width, outputs, out);
}

void expected_predictions(const Ensemble& ensemble, const std::vector<std::uint32_t>& features,
                          const double* points, std::size_t count, double* out) {
    constexpr std::uint32_t kUnknown = 0xffffffff;
    std::vector<std::uint32_t> index_of(ensemble.features, kUnknown);
    for (std::size_t i = 0; i < features.size(); ++i)
        index_of[features[i]] = static_cast<std::uint32_t>(i);
    std::vector<std::pair<std::uint32_t, double>>
        stack;  // a node and the share of rows that reach it
    for (std::size_t p = 0; p < count; ++p, points += features.size(), out += ensemble.outputs) {
        std::copy(ensemble.base.begin(), ensemble.base.end(), out);
        for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
            const Tree& tree = ensemble.trees[t];
            check_interrupt(2 * tree.nodes.size());
            stack.assign(1, {0, 1.0});
            while (!stack.empty()) {
                auto [node_index, share] = stack.back();
                stack.pop_back();
                const Node& node = tree.nodes[node_index];
                if (node.is_leaf()) {
                    double* destination = out + (ensemble.vector_leaves ? 0 : t % ensemble.outputs);
                    for (double value : ensemble.values_of(tree, node))
                        *destination++ += share * value;
                } else if (index_of[node.feature()] != kUnknown) {
                    double x = points[index_of[node.feature()]];
                    stack.push_back({node.left + !goes_left(ensemble, tree, node, x), share});
                } else {
                    double left = tree.stats[node.left].cover;
                    double total_cover = left + tree.stats[node.left + 1].cover;
                    double left_share = total_cover > 0 ? left / total_cover : 0.5;
                    if (left_share < 1) stack.push_back({node.left + 1, share * (1 - left_share)});
                    if (left_share > 0) stack.push_back({node.left, share * left_share});
                }
            }
        }
    }
}

}  // namespace bosquet
