#include "explain/shap.hpp"

#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "explain/interventional.hpp"
#include "explain/shap_tree.hpp"
#include "parallel/team.hpp"
#include "tree/walk.hpp"

namespace bosquet {

namespace {

// Rows that go through a tree before the next one is fetched. What a tree needs is a few tens of
// kilobytes; with a background its numbers are made anew for each of the background's rows, which
// more rows make up for.
constexpr std::size_t kGroups = 8, kGroupsWithBackground = 32;
constexpr std::size_t kBlockBytes = 4 << 20;  // of sums at most

struct Room {
    Buffer<double> values;  // [group][line][row]
    Buffer<double> sums;    // [group][slot][output][row]
    Buffer<double> pairs;   // [group][slot][slot][output][row]
    Buffer<double> walk;
    std::vector<double> shares, edges;
};

class Explaining {
  public:
    Explaining(const Ensemble& ensemble, const Table& rows, const ShapOptions& options);
    void run(double* out) const;
    void expectation(double* base) const;
    bool prepare_leaves();
    void run_by_leaves(double* out) const;

  private:
    void choose_block();
    void read_background();
    Room make_room() const;
    void read_values(Range rows, Room& room) const;
    void explain_block(Range rows, Room& room, double* out) const;
    void add_tree(std::size_t tree, const ShapTree& view, std::size_t groups, Room& room) const;
    void write_values(Range rows, const Room& room, double* out) const;
    void write_pairs(Range rows, const Room& room, double* out) const;

    std::size_t lines() const { return 2 * used_.count(); }
    std::size_t outputs() const { return ensemble_->outputs; }
    std::size_t sums_size() const { return used_.count() * outputs() * kShapRows; }
    std::size_t pairs_size() const {
        return options_->interactions ? used_.count() * sums_size() : 0;
    }

    const Ensemble* ensemble_;
    const Table* rows_;
    const ShapOptions* options_;
    const ShapKernels* kernels_;
    UsedFeatures used_;
    std::vector<TreeShape> trees_;
    std::vector<std::vector<double>> edges_;  // by covers
    std::vector<double> background_;          // [row][line]
    std::vector<LeafConditions> leaves_;
    std::size_t background_rows_ = 0;
    std::size_t groups_ = kGroups;
    std::size_t walk_size_ = 0, share_size_ = 0, edge_size_ = 0;
};

Explaining::Explaining(const Ensemble& ensemble, const Table& rows, const ShapOptions& options)
    : ensemble_(&ensemble),
      rows_(&rows),
      options_(&options),
      kernels_(&select_shap_kernels(options.isa)),
      used_(ensemble) {
    trees_.reserve(ensemble.trees.size());
    for (const Tree& tree : ensemble.trees) {
        const TreeShape& shape = trees_.emplace_back(ensemble, tree, used_);
        walk_size_ =
            std::max(walk_size_, shap_room(shape.levels(), shape.points(), shape.values()));
        share_size_ = std::max(share_size_, 2 * shape.splits());
        edge_size_ = std::max(edge_size_, shape.edge_size());
        if (options.background != nullptr) continue;
        edges_.emplace_back(shape.edge_size());
        shape.fill_edges(shape.cover_shares().data(), edges_.back().data());
    }
    if (options.background != nullptr) read_background();
    choose_block();
}

void Explaining::choose_block() {
    groups_ = options_->background != nullptr ? kGroupsWithBackground : kGroups;
    std::size_t bytes = (sums_size() + pairs_size() + lines() * kShapRows) * sizeof(double);
    groups_ = std::clamp<std::size_t>(kBlockBytes / std::max<std::size_t>(1, bytes), 1, groups_);
    // Few rows are shared out all the same.
    std::size_t all = (rows_->rows + kShapRows - 1) / kShapRows;
    std::size_t share = all / (4 * static_cast<std::size_t>(options_->threads));
    groups_ = std::max<std::size_t>(1, std::min(groups_, share));
}

void Explaining::read_background() {
    const Table& table = *options_->background;
    background_rows_ = table.rows;
    background_.resize(table.rows * lines());
    for (std::size_t slot = 0; slot < used_.count(); ++slot)
        for (std::size_t i = 0; i < table.rows; ++i)
            put_walked(background_.data() + i * lines(), slot,
                       read_value(table.columns[used_.features[slot]], i));
}

Room Explaining::make_room() const {
    Room room;
    room.values = Buffer<double>(groups_ * lines() * kShapRows);
    room.sums = Buffer<double>(groups_ * sums_size());
    room.pairs = Buffer<double>(groups_ * pairs_size());
    room.walk = Buffer<double>(walk_size_);
    room.shares.resize(background_rows_ > 0 ? share_size_ : 0);
    room.edges.resize(background_rows_ > 0 ? edge_size_ : 0);
    return room;
}

// Rows behind the last are filled with zeros, computed with the others and not written.
void Explaining::read_values(Range rows, Room& room) const {
    double column[kShapRows * kGroupsWithBackground] = {};
    for (std::size_t slot = 0; slot < used_.count(); ++slot) {
        read_column(rows_->columns[used_.features[slot]], rows.begin, rows.size(), column);
        for (std::size_t i = 0; i < groups_ * kShapRows; ++i) {
            double walked[2];
            put_walked(walked, 0, column[i]);
            double* group = room.values.data() + i / kShapRows * lines() * kShapRows;
            for (std::size_t side : {0, 1})
                group[(2 * slot + side) * kShapRows + i % kShapRows] = walked[side];
        }
    }
}

void Explaining::add_tree(std::size_t tree, const ShapTree& view, std::size_t groups,
                          Room& room) const {
    // A tree of vector leaves adds to all outputs, another to one of them. The kernel writes
    // [slot][value][row], so sums are kept as [output][slot][row] in the second case.
    std::size_t output = ensemble_->vector_leaves ? 0 : tree % outputs();
    for (std::size_t g = 0; g < groups; ++g) {
        double* sums = room.sums.data() + g * sums_size();
        double* pairs = options_->interactions ? room.pairs.data() + g * pairs_size() : nullptr;
        if (!ensemble_->vector_leaves) {
            sums += output * used_.count() * kShapRows;
            if (pairs != nullptr) pairs += output * used_.count() * used_.count() * kShapRows;
        }
        kernels_->add_tree(view, room.values.data() + g * lines() * kShapRows, room.walk.data(),
                           sums, pairs, used_.count());
    }
}

void Explaining::explain_block(Range rows, Room& room, double* out) const {
    std::fill(room.sums.begin(), room.sums.end(), 0.0);
    std::fill(room.pairs.begin(), room.pairs.end(), 0.0);
    read_values(rows, room);
    std::size_t groups = (rows.size() + kShapRows - 1) / kShapRows;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        const TreeShape& tree = trees_[t];
        if (background_rows_ == 0)
            add_tree(t, tree.view(tree.cover_shares().data(), edges_[t].data()), groups, room);
        for (std::size_t b = 0; b < background_rows_; ++b) {
            tree.way_shares(background_.data() + b * lines(), room.shares.data());
            tree.fill_edges(room.shares.data(), room.edges.data());
            add_tree(t, tree.view(room.shares.data(), room.edges.data()), groups, room);
        }
    }
    if (options_->interactions)
        write_pairs(rows, room, out);
    else
        write_values(rows, room, out);
}

void Explaining::write_values(Range rows, const Room& room, double* out) const {
    std::size_t slots = used_.count(), width = ensemble_->features * outputs();
    double scale = background_rows_ > 0 ? 1.0 / static_cast<double>(background_rows_) : 1.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double* to = out + (rows.begin + i) * width;
        std::fill_n(to, width, 0.0);
        const double* from = room.sums.data() + i / kShapRows * sums_size() + i % kShapRows;
        for (std::size_t s = 0; s < slots; ++s)
            for (std::size_t k = 0; k < outputs(); ++k) {
                std::size_t line = ensemble_->vector_leaves ? s * outputs() + k : k * slots + s;
                to[used_.features[s] * outputs() + k] = scale * from[line * kShapRows];
            }
    }
}

void Explaining::write_pairs(Range rows, const Room& room, double* out) const {
    std::size_t slots = used_.count(), features = ensemble_->features;
    std::size_t width = features * features * outputs();
    double scale = background_rows_ > 0 ? 1.0 / static_cast<double>(background_rows_) : 1.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double* to = out + (rows.begin + i) * width;
        std::fill_n(to, width, 0.0);
        const double* sums = room.sums.data() + i / kShapRows * sums_size() + i % kShapRows;
        const double* pairs = room.pairs.data() + i / kShapRows * pairs_size() + i % kShapRows;
        auto place = [&](std::size_t a, std::size_t b, std::size_t k) -> double& {
            return to[(used_.features[a] * features + used_.features[b]) * outputs() + k];
        };
        for (std::size_t k = 0; k < outputs(); ++k)
            for (std::size_t a = 0; a < slots; ++a) {
                bool vectors = ensemble_->vector_leaves;
                std::size_t line = vectors ? a * outputs() + k : k * slots + a;
                place(a, a, k) += scale * sums[line * kShapRows];
                for (std::size_t b = 0; b < slots; ++b) {
                    if (a == b) continue;
                    std::size_t at =
                        vectors ? (a * slots + b) * outputs() + k : (k * slots + a) * slots + b;
                    double half = scale * pairs[at * kShapRows] / 2;
                    place(a, b, k) += half;
                    place(b, a, k) += half;
                    place(a, a, k) -= half;
                    place(b, b, k) -= half;
                }
            }
    }
}

void Explaining::run(double* out) const {
    std::size_t block = groups_ * kShapRows;
    std::size_t blocks = (rows_->rows + block - 1) / block;
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(options_->threads))));
    std::vector<Room> rooms(static_cast<std::size_t>(team.size()));
    team.run(blocks, [&](std::size_t index, int worker) {
        Room& room = rooms[static_cast<std::size_t>(worker)];
        if (room.walk.data() == nullptr) room = make_room();
        std::size_t begin = index * block;
        explain_block({begin, std::min(rows_->rows, begin + block)}, room, out);
    });
}

// Whether values against a background can be found leaf by leaf; that is many times faster.
bool Explaining::prepare_leaves() {
    if (background_rows_ == 0 || options_->interactions) return false;
    leaves_.reserve(trees_.size());
    for (const TreeShape& tree : trees_) {
        leaves_.emplace_back(tree);
        if (!leaves_.back().fits()) return false;
    }
    for (LeafConditions& tree : leaves_)
        tree.set_background(background_.data(), background_rows_, lines());
    return true;
}

void Explaining::run_by_leaves(double* out) const {
    constexpr std::size_t kBlock = LeafConditions::kRows;
    std::size_t blocks = (rows_->rows + kBlock - 1) / kBlock;
    std::size_t slots = used_.count(), width = ensemble_->features * outputs();
    Team team(static_cast<int>(
        std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(options_->threads))));
    std::vector<LeafConditions::Room> rooms(static_cast<std::size_t>(team.size()));
    team.run(blocks, [&](std::size_t index, int worker) {
        Range rows{index * kBlock, std::min(rows_->rows, (index + 1) * kBlock)};
        std::vector<double> values(rows.size() * lines()), sums(rows.size() * slots * outputs());
        double column[kBlock];
        for (std::size_t s = 0; s < slots; ++s) {
            read_column(rows_->columns[used_.features[s]], rows.begin, rows.size(), column);
            for (std::size_t i = 0; i < rows.size(); ++i)
                put_walked(values.data() + i * lines(), s, column[i]);
        }
        for (std::size_t t = 0; t < leaves_.size(); ++t)
            leaves_[t].add(values.data(), rows.size(), lines(),
                           ensemble_->vector_leaves ? 0 : t % outputs(), outputs(), slots,
                           sums.data(), rooms[static_cast<std::size_t>(worker)]);
        std::fill_n(out + rows.begin * width, rows.size() * width, 0.0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t s = 0; s < slots; ++s)
                for (std::size_t k = 0; k < outputs(); ++k)
                    out[(rows.begin + i) * width + used_.features[s] * outputs() + k] =
                        sums[(i * slots + s) * outputs() + k] /
                        static_cast<double>(background_rows_);
    });
}

void Explaining::expectation(double* base) const {
    std::vector<double> sums(outputs()), shares(share_size_);
    std::size_t times = std::max<std::size_t>(1, background_rows_);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        double* to = sums.data() + (ensemble_->vector_leaves ? 0 : t % outputs());
        for (std::size_t b = 0; b < times; ++b) {
            const double* from = trees_[t].cover_shares().data();
            if (background_rows_ > 0) {
                trees_[t].way_shares(background_.data() + b * lines(), shares.data());
                from = shares.data();
            }
            trees_[t].add_expectation(from, to);
        }
    }
    for (std::size_t k = 0; k < outputs(); ++k)
        base[k] = ensemble_->base[k] + sums[k] / static_cast<double>(times);
}

}  // namespace

void shap_values(const Ensemble& ensemble, const Table& rows, const ShapOptions& options,
                 double* out, double* base) {
    Explaining explaining(ensemble, rows, options);
    explaining.expectation(base);
    if (explaining.prepare_leaves())
        explaining.run_by_leaves(out);
    else
        explaining.run(out);
}

}  // namespace bosquet
