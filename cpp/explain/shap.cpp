#include "explain/shap.hpp"

#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "base/interrupt.hpp"
#include "explain/interventional.hpp"
#include "explain/shap_tree.hpp"
#include "parallel/team.hpp"
#include "trees/walk.hpp"

namespace bosquet {

namespace {

// Groups of rows that are processed by a tree before the next tree. The data of a tree takes a few
// tens of kilobytes. With a background it is computed again for each background row, which pays off
// with more groups.
constexpr std::size_t kGroups = 8, kGroupsWithBackground = 32;
constexpr std::size_t kBlockBytes = 4 << 20;  // maximum size of the sums
// The edge numbers of all trees are kept from block to block if they take at most this many bytes;
// those of a forest of large trees would take tens of gigabytes. Otherwise they are computed again
// for each block, as with a background.
constexpr std::size_t kKeptBytes = std::size_t{1} << 30;
// Maximum workspace of a thread for one tree. A tree that would need more, with tens of thousands
// of levels and many features on a path, is processed for some of the points at a time.
constexpr std::size_t kWalkBytes = 64 << 20;
// Maximum size of the background cases of trees that are processed together.
constexpr std::size_t kCaseBytes = 256 << 20;

struct Workspace {
    Buffer<double> values;  // [group][line][row]
    Buffer<double> sums;    // [group][slot][output][row]
    Buffer<double> pairs;   // [group][slot][slot][output][row]
    Buffer<double> walk;
    std::vector<double> shares, edges;
};

// The number of points for which a tree is processed at a time.
std::size_t points_at_a_time(const TreeShape& tree) {
    std::size_t all = tree.points();
    auto doubles = [&](std::size_t points) {
        return shap_workspace_size(tree.depth(), points, tree.values_per_leaf()) +
               tree.edge_size(points);
    };
    std::size_t fixed = doubles(0), each = doubles(1) - fixed;
    std::size_t budget = kWalkBytes / sizeof(double);
    if (fixed + all * each <= budget) return all;
    return std::clamp<std::size_t>((budget - std::min(budget, fixed)) / each, 1, all);
}

class ShapComputation {
  public:
    ShapComputation(const Ensemble& ensemble, const Table& rows, const ShapOptions& options);
    void run(double* out) const;
    void compute_expectation(double* base) const;
    // Whether values with a background can be computed leaf by leaf, which is many times faster.
    bool by_leaves() const;
    void run_by_leaves(double* out) const;

  private:
    void choose_block();
    void read_background();
    Workspace make_workspace() const;
    void read_values(Range rows, Workspace& work) const;
    void explain_block(Range rows, Workspace& work, double* out) const;
    void add_tree(std::size_t tree, const ShapTree& view, std::size_t groups,
                  Workspace& work) const;
    void write_values(Range rows, const Workspace& work, double* out) const;
    void write_pairs(Range rows, const Workspace& work, double* out) const;
    std::vector<BackgroundCases> cases_from(std::size_t first) const;
    void add_leaves(Range rows, std::size_t first, const std::vector<BackgroundCases>& cases,
                    BackgroundCases::Workspace& work, double* out) const;

    std::size_t lines() const { return 2 * used_.count(); }
    std::size_t outputs() const { return ensemble_->outputs; }
    std::size_t slots() const { return used_.players.size(); }
    std::size_t players() const {
        return options_->player_of.empty() ? ensemble_->features : options_->players;
    }
    std::size_t sums_size() const { return slots() * outputs() * kShapRows; }
    std::size_t pairs_size() const { return options_->interactions ? slots() * sums_size() : 0; }

    const Ensemble* ensemble_;
    const Table* rows_;
    const ShapOptions* options_;
    const ShapKernels* kernels_;
    UsedFeatures used_;
    std::vector<TreeShape> trees_;
    std::vector<std::vector<double>>
        edges_;                       // edge numbers with cover shares; empty if they are not kept
    std::vector<double> background_;  // [row][line]
    std::size_t background_rows_ = 0;
    std::size_t groups_ = kGroups;
    std::size_t walk_size_ = 0, share_size_ = 0, edge_size_ = 0;
};

ShapComputation::ShapComputation(const Ensemble& ensemble, const Table& rows,
                                 const ShapOptions& options)
    : ensemble_(&ensemble),
      rows_(&rows),
      options_(&options),
      kernels_(&select_shap_kernels(options.isa)),
      used_(ensemble, options.player_of) {
    trees_.reserve(ensemble.trees.size());
    std::size_t edges = 0;           // total over all trees
    bool all_points_at_once = true;  // whether every tree is processed at all points at once
    for (const Tree& tree : ensemble.trees) {
        check_interrupt(64 * tree.nodes.size());
        const TreeShape& shape = trees_.emplace_back(ensemble, tree, used_, options.interactions);
        std::size_t points = points_at_a_time(shape);
        walk_size_ = std::max(walk_size_,
                              shap_workspace_size(shape.depth(), points, shape.values_per_leaf()));
        share_size_ = std::max(share_size_, 2 * shape.splits());
        edge_size_ = std::max(edge_size_, shape.edge_size(points));
        edges += shape.edge_size(points);
        all_points_at_once = all_points_at_once && points == shape.points();
    }
    if (options.background != nullptr) {
        read_background();
    } else if (all_points_at_once && edges * sizeof(double) <= kKeptBytes) {
        for (const TreeShape& shape : trees_) {
            check_interrupt(16 * shape.edge_size(1) * shape.points());
            edges_.emplace_back(shape.edge_size(shape.points()));
            shape.fill_edges(shape.cover_shares().data(), {0, shape.points()},
                             edges_.back().data());
        }
    }
    choose_block();
}

void ShapComputation::choose_block() {
    groups_ = edges_.empty() ? kGroupsWithBackground : kGroups;
    std::size_t bytes = (sums_size() + pairs_size() + lines() * kShapRows) * sizeof(double);
    groups_ = std::clamp<std::size_t>(kBlockBytes / std::max<std::size_t>(1, bytes), 1, groups_);
    // A small number of rows is divided among the threads as well.
    std::size_t all = (rows_->rows + kShapRows - 1) / kShapRows;
    std::size_t share = all / (4 * static_cast<std::size_t>(options_->threads));
    groups_ = std::max<std::size_t>(1, std::min(groups_, share));
}

void ShapComputation::read_background() {
    const Table& table = *options_->background;
    background_rows_ = table.rows;
    background_.resize(table.rows * lines());
    for (std::size_t slot = 0; slot < used_.count(); ++slot)
        for (std::size_t i = 0; i < table.rows; ++i)
            put_walked(background_.data() + i * lines(), slot,
                       read_value(table.columns[used_.features[slot]], i));
}

Workspace ShapComputation::make_workspace() const {
    Workspace work;
    work.values = Buffer<double>(groups_ * lines() * kShapRows);
    work.sums = Buffer<double>(groups_ * sums_size());
    work.pairs = Buffer<double>(groups_ * pairs_size());
    work.walk = Buffer<double>(walk_size_);
    work.shares.resize(background_rows_ > 0 ? share_size_ : 0);
    work.edges.resize(edges_.empty() ? edge_size_ : 0);
    return work;
}

// Rows after the last are filled with zeros, computed with the others and not written.
void ShapComputation::read_values(Range rows, Workspace& work) const {
    double column[kShapRows * kGroupsWithBackground] = {};
    for (std::size_t slot = 0; slot < used_.count(); ++slot) {
        read_column(rows_->columns[used_.features[slot]], rows.begin, rows.size(), column);
        for (std::size_t i = 0; i < groups_ * kShapRows; ++i) {
            double walked[2];
            put_walked(walked, 0, column[i]);
            double* group = work.values.data() + i / kShapRows * lines() * kShapRows;
            for (std::size_t side : {0, 1})
                group[(2 * slot + side) * kShapRows + i % kShapRows] = walked[side];
        }
    }
}

void ShapComputation::add_tree(std::size_t tree, const ShapTree& view, std::size_t groups,
                               Workspace& work) const {
    // A tree with vector leaves adds to all outputs, any other tree to one output. The kernel
    // writes [slot][value][row], so that sums are stored as [output][slot][row] in the second case.
    std::size_t output = ensemble_->vector_leaves ? 0 : tree % outputs();
    for (std::size_t g = 0; g < groups; ++g) {
        check_interrupt(trees_[tree].edge_size(view.points));
        double* sums = work.sums.data() + g * sums_size();
        double* pairs = options_->interactions ? work.pairs.data() + g * pairs_size() : nullptr;
        if (!ensemble_->vector_leaves) {
            sums += output * slots() * kShapRows;
            if (pairs != nullptr) pairs += output * slots() * slots() * kShapRows;
        }
        kernels_->add_tree(view, work.values.data() + g * lines() * kShapRows, work.walk.data(),
                           sums, pairs, slots());
    }
}

void ShapComputation::explain_block(Range rows, Workspace& work, double* out) const {
    std::fill(work.sums.begin(), work.sums.end(), 0.0);
    std::fill(work.pairs.begin(), work.pairs.end(), 0.0);
    read_values(rows, work);
    std::size_t groups = (rows.size() + kShapRows - 1) / kShapRows;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        const TreeShape& tree = trees_[t];
        const double* shares = tree.cover_shares().data();
        if (!edges_.empty()) {
            add_tree(t, tree.view(shares, edges_[t].data(), {0, tree.points()}), groups, work);
            continue;
        }
        std::size_t step = points_at_a_time(tree);
        for (std::size_t b = 0; b < std::max<std::size_t>(1, background_rows_); ++b) {
            if (background_rows_ > 0) {
                tree.row_shares(background_.data() + b * lines(), work.shares.data());
                shares = work.shares.data();
            }
            for (std::size_t first = 0; first < tree.points(); first += step) {
                Range points{first, std::min<std::size_t>(first + step, tree.points())};
                tree.fill_edges(shares, points, work.edges.data());
                add_tree(t, tree.view(shares, work.edges.data(), points), groups, work);
            }
        }
    }
    if (options_->interactions)
        write_pairs(rows, work, out);
    else
        write_values(rows, work, out);
}

void ShapComputation::write_values(Range rows, const Workspace& work, double* out) const {
    std::size_t slots = this->slots(), width = players() * outputs();
    double scale = background_rows_ > 0 ? 1.0 / static_cast<double>(background_rows_) : 1.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double* destination = out + (rows.begin + i) * width;
        std::fill_n(destination, width, 0.0);
        const double* source = work.sums.data() + i / kShapRows * sums_size() + i % kShapRows;
        for (std::size_t s = 0; s < slots; ++s)
            for (std::size_t k = 0; k < outputs(); ++k) {
                std::size_t line = ensemble_->vector_leaves ? s * outputs() + k : k * slots + s;
                destination[used_.players[s] * outputs() + k] = scale * source[line * kShapRows];
            }
    }
}

void ShapComputation::write_pairs(Range rows, const Workspace& work, double* out) const {
    std::size_t slots = this->slots(), all = players();
    std::size_t width = all * all * outputs();
    double scale = background_rows_ > 0 ? 1.0 / static_cast<double>(background_rows_) : 1.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double* destination = out + (rows.begin + i) * width;
        std::fill_n(destination, width, 0.0);
        const double* sums = work.sums.data() + i / kShapRows * sums_size() + i % kShapRows;
        const double* pairs = work.pairs.data() + i / kShapRows * pairs_size() + i % kShapRows;
        auto entry = [&](std::size_t a, std::size_t b, std::size_t k) -> double& {
            return destination[(used_.players[a] * all + used_.players[b]) * outputs() + k];
        };
        for (std::size_t k = 0; k < outputs(); ++k)
            for (std::size_t a = 0; a < slots; ++a) {
                bool vectors = ensemble_->vector_leaves;
                std::size_t line = vectors ? a * outputs() + k : k * slots + a;
                entry(a, a, k) += scale * sums[line * kShapRows];
                for (std::size_t b = 0; b < slots; ++b) {
                    if (a == b) continue;
                    std::size_t at =
                        vectors ? (a * slots + b) * outputs() + k : (k * slots + a) * slots + b;
                    double half = scale * pairs[at * kShapRows] / 2;
                    entry(a, b, k) += half;
                    entry(b, a, k) += half;
                    entry(a, a, k) -= half;
                    entry(b, b, k) -= half;
                }
            }
    }
}

void ShapComputation::run(double* out) const {
    std::size_t block = groups_ * kShapRows;
    std::size_t blocks = (rows_->rows + block - 1) / block;
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(options_->threads))));
    std::vector<Workspace> work(static_cast<std::size_t>(team.size()));
    team.run(blocks, [&](std::size_t index, int worker) {
        Workspace& workspace = work[static_cast<std::size_t>(worker)];
        if (workspace.walk.data() == nullptr) workspace = make_workspace();
        std::size_t begin = index * block;
        explain_block({begin, std::min(rows_->rows, begin + block)}, workspace, out);
    });
}

bool ShapComputation::by_leaves() const {
    return background_rows_ > 0 && !options_->interactions &&
           std::all_of(trees_.begin(), trees_.end(), BackgroundCases::fits);
}

// The background cases of tree `first` and of as many following trees as memory allows.
std::vector<BackgroundCases> ShapComputation::cases_from(std::size_t first) const {
    std::vector<BackgroundCases> cases;
    for (std::size_t bytes = 0; first < trees_.size() && bytes < kCaseBytes; ++first) {
        cases.emplace_back(trees_[first], background_.data(), background_rows_, lines());
        bytes += cases.back().bytes();
    }
    return cases;
}

// Adds the trees in `cases`, which start with tree `first`, to the values of earlier trees in
// `out`.
void ShapComputation::add_leaves(Range rows, std::size_t first,
                                 const std::vector<BackgroundCases>& cases,
                                 BackgroundCases::Workspace& work, double* out) const {
    std::size_t slots = this->slots(), width = players() * outputs();
    std::vector<double> values(rows.size() * lines()), sums(rows.size() * slots * outputs());
    double column[BackgroundCases::kRows];
    for (std::size_t f = 0; f < used_.count(); ++f) {
        read_column(rows_->columns[used_.features[f]], rows.begin, rows.size(), column);
        for (std::size_t i = 0; i < rows.size(); ++i)
            put_walked(values.data() + i * lines(), f, column[i]);
    }
    if (first == 0) std::fill_n(out + rows.begin * width, rows.size() * width, 0.0);
    auto for_each_sum = [&](auto&& act) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t s = 0; s < slots; ++s)
                for (std::size_t k = 0; k < outputs(); ++k)
                    act(sums[(i * slots + s) * outputs() + k],
                        out[(rows.begin + i) * width + used_.players[s] * outputs() + k]);
    };
    if (first > 0) for_each_sum([](double& sum, double& stored) { sum = stored; });
    for (std::size_t t = 0; t < cases.size(); ++t)
        cases[t].add(values.data(), rows.size(), lines(),
                     ensemble_->vector_leaves ? 0 : (first + t) % outputs(), outputs(), slots,
                     sums.data(), work);
    bool last = first + cases.size() == trees_.size();
    double count = last ? static_cast<double>(background_rows_) : 1.0;
    for_each_sum([&](double& sum, double& stored) { stored = sum / count; });
}

void ShapComputation::run_by_leaves(double* out) const {
    constexpr std::size_t kBlock = BackgroundCases::kRows;
    std::size_t blocks = (rows_->rows + kBlock - 1) / kBlock;
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(options_->threads))));
    std::vector<BackgroundCases::Workspace> work(static_cast<std::size_t>(team.size()));
    std::size_t first = 0;
    do {
        std::vector<BackgroundCases> cases = cases_from(first);
        team.run(blocks, [&](std::size_t index, int worker) {
            Range rows{index * kBlock, std::min(rows_->rows, (index + 1) * kBlock)};
            add_leaves(rows, first, cases, work[static_cast<std::size_t>(worker)], out);
        });
        first += cases.size();
    } while (first < trees_.size());
}

void ShapComputation::compute_expectation(double* base) const {
    std::vector<double> sums(outputs()), shares(share_size_);
    std::size_t repetitions = std::max<std::size_t>(1, background_rows_);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        double* destination = sums.data() + (ensemble_->vector_leaves ? 0 : t % outputs());
        for (std::size_t b = 0; b < repetitions; ++b) {
            check_interrupt(8 * trees_[t].splits());
            const double* source = trees_[t].cover_shares().data();
            if (background_rows_ > 0) {
                trees_[t].row_shares(background_.data() + b * lines(), shares.data());
                source = shares.data();
            }
            trees_[t].add_expectation(source, destination);
        }
    }
    for (std::size_t k = 0; k < outputs(); ++k)
        base[k] = ensemble_->base[k] + sums[k] / static_cast<double>(repetitions);
}

}  // namespace

void shap_values(const Ensemble& ensemble, const Table& rows, const ShapOptions& options,
                 double* out, double* base) {
    ShapComputation computation(ensemble, rows, options);
    computation.compute_expectation(base);
    if (computation.by_leaves())
        computation.run_by_leaves(out);
    else
        computation.run(out);
}

}  // namespace bosquet
