#include "grow/grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "base/stopwatch.hpp"
#include "grow/chunks.hpp"

namespace bosquet {

namespace {

// A node with fewer rows than this is expanded by one thread, and the threads take different nodes.
constexpr std::size_t kSharedRows = 16'384;

// If a node may use at most one in this many features, their histograms are built from its rows.
// The histogram of the other features, from which those of its children would be derived, takes
// longer: a fit of 800 x 4000 with the square root of the features per node takes a tenth of the
// time.
constexpr double kFewFeatures = 6;

// If the rows are divided into parts, this many nodes are expanded before their histograms are
// combined. A tree of 63 leaves then needs about 19 messages instead of 62, and the nodes that turn
// out not to be needed cost 2 % more additions.
constexpr std::size_t kNodesPerMessage = 4;

// Draws a share of the items, at least one, by the hash of their number.
std::vector<std::uint32_t> draw(std::vector<std::uint32_t> items, double share, std::uint64_t seed,
                                std::uint64_t stream) {
    if (share >= 1 || items.empty()) return items;
    auto count = static_cast<std::size_t>(std::max(1.0, std::round(share * items.size())));
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
    ranked.reserve(items.size());
    for (std::uint32_t item : items) ranked.emplace_back(hash64(seed, stream, item), item);
    std::nth_element(ranked.begin(), ranked.begin() + (count - 1), ranked.end());
    items.resize(count);
    for (std::size_t i = 0; i < count; ++i) items[i] = ranked[i].second;
    std::sort(items.begin(), items.end());
    return items;
}

}  // namespace

struct Grower::GrowingNode {
    std::uint32_t index = 0;  // of the node in the tree
    std::uint32_t depth = 0;
    // Identifies the node by its path, independent of the order of expansion.
    std::uint64_t key = 0;
    std::size_t begin = 0, count = 0;
    std::uint64_t all_count = 0;  // rows of all parts
    bool has_all_rows = false;    // all rows of the matrix, in order: their numbers are not stored
    PackedGradient sum = 0;
    ValueBounds bounds;
    Split split;
    PackedGradient* histogram = nullptr;
    PackedGradient* child_histogram = nullptr;  // reserved for the smaller child before expansion
    GrowingNode* left = nullptr;
    GrowingNode* right = nullptr;
    bool expanded = false;
    bool split_by_depth = false;  // whether shallow nodes are split first, for depth-wise growth
    std::vector<std::uint32_t> path_features;

    GrowingNode& smaller_by_hessian() {
        return hessian_of(left->sum) <= hessian_of(right->sum) ? *left : *right;
    }
    RowSet rows(const Buffer<std::uint32_t>* buffers) const {
        return has_all_rows ? RowSet{nullptr, 0, count}
                            : RowSet{buffers[depth % 2].data() + begin, 0, count};
    }
};

bool Grower::ByPriority::operator()(const GrowingNode* a, const GrowingNode* b) const {
    if (a->split_by_depth && a->depth != b->depth) return a->depth < b->depth;
    if (a->split.gain != b->split.gain) return a->split.gain > b->split.gain;
    return a->index < b->index;
}

Grower::Grower(const BinnedMatrix& matrix, std::span<const FeatureBins> bins,
               const GrowOptions& options, Isa isa, Team& team, Reducer& reducer)
    : matrix_(&matrix),
      bins_(bins),
      options_(&options),
      kernels_(&select_grow_kernels(isa)),
      team_(&team),
      reducer_(&reducer),
      finder_(matrix, options, *kernels_, reducer),
      histograms_(matrix, *kernels_, team.size()),
      column_copies_(matrix) {
    for (auto& rows : rows_) rows = Buffer<std::uint32_t>(matrix.rows());
    marks_ = Buffer<std::uint64_t>(matrix.rows() / 64 + 1);
    for (int worker = 0; worker < team.size(); ++worker)
        worker_marks_.emplace_back(std::min(matrix.rows(), kSharedRows) / 64 + 1);
    worker_timings_.resize(team.size());
    worker_candidates_.resize(2 * team.size());
    draws_features_ = options.features_by_tree < 1 || options.features_by_level < 1 ||
                      options.features_by_node < 1 || !options.interactions.empty();
    double share = options.features_by_tree * options.features_by_level * options.features_by_node;
    draws_few_features_ = share * kFewFeatures <= 1 && !reducer.is_distributed();
}

GrowTimings Grower::timings() const {
    GrowTimings all;
    for (const GrowTimings& worker : worker_timings_) {
        all.histogram += worker.histogram;
        all.split += worker.split;
        all.partition += worker.partition;
    }
    return all;
}

Grower::~Grower() = default;

void Grower::set_matrix(const BinnedMatrix& matrix) {
    matrix_ = &matrix;
    finder_.set_matrix(matrix);
    histograms_.set_matrix(matrix);
    column_copies_.set_matrix(matrix);
}

Grower::GrowingNode* Grower::new_node() {
    if (nodes_used_ == nodes_.size()) nodes_.push_back(std::make_unique<GrowingNode>());
    GrowingNode* node = nodes_[nodes_used_++].get();
    *node = GrowingNode{};
    node->split_by_depth = options_->growth == Growth::depth_wise;
    return node;
}

GrownTree Grower::grow(const PackedGradient* gradients, const GradientScale& scale,
                       std::optional<std::span<const std::uint32_t>> sample, std::uint64_t key) {
    gradients_ = gradients;
    key_ = key;
    finder_.set_scale(scale);
    column_copies_.start_tree();
    nodes_used_ = 0;
    tree_features_ = draw(matrix_->layout().active, options_->features_by_tree, key, 1);

    GrownTree out;
    Frontier frontier;
    start_root(sample, key);
    GrowingNode& root = *nodes_[0];
    out.tree.nodes.resize(1);
    out.tree.stats.resize(1);
    out.split_bins.resize(1);
    if (root.split.found())
        frontier.insert(&root);
    else
        finish_leaf(root, out);

    std::size_t leaves = 1;
    while (!frontier.empty()) {
        if (leaves == options_->max_leaf_nodes) break;
        GrowingNode& node = **frontier.begin();
        std::size_t budget = options_->max_leaf_nodes - leaves;
        if (!node.expanded && reducer_->is_distributed())
            expand_together(frontier, budget);
        else if (!node.expanded)
            expand_some(frontier, budget);
        frontier.erase(frontier.begin());
        commit(node, out, frontier);
        ++leaves;
    }
    for (GrowingNode* node : frontier) finish_leaf(*node, out);
    return out;
}

void Grower::start_root(std::optional<std::span<const std::uint32_t>> sample, std::uint64_t key) {
    GrowingNode* root = new_node();
    root->key = mix64(key);
    root->has_all_rows = !sample;
    root->count = sample ? sample->size() : matrix_->rows();
    if (sample) std::copy(sample->begin(), sample->end(), rows_[0].data());
    RowSet rows = root->rows(rows_);

    std::vector<PackedGradient> block_sums(block_count(root->count));
    auto add_block = [&](std::size_t index, int) {
        Range range = block_range(root->count, index);
        PackedGradient sum = 0;
        for (std::size_t i = range.begin; i < range.end; ++i) sum += gradients_[rows.row(i)];
        block_sums[index] = sum;
    };
    team_->run(block_sums.size(), add_block);
    root->sum = std::accumulate(block_sums.begin(), block_sums.end(), PackedGradient{0});
    std::int64_t numbers[] = {root->sum, static_cast<std::int64_t>(root->count)};
    reducer_->add(numbers);
    root->sum = numbers[0];
    root->all_count = static_cast<std::uint64_t>(numbers[1]);
    if (!is_splittable(*root) || options_->max_leaf_nodes < 2) return;

    Team* team = root->count >= kSharedRows || matrix_->layout().tiles.size() > 4 ? team_ : nullptr;
    root->histogram = histograms_.acquire();
    if (draws_few_features_) {
        find_split_among_few(*root, root->histogram, team, 0);
    } else {
        build_histogram(*root, team, 0);
        if (reducer_->is_distributed()) {
            message_.clear();
            append_to_message(root->histogram);
            reducer_->add(message_);
            read_from_message(0, root->histogram);
        }
        find_splits(root, nullptr, root->histogram, team, 0);
    }
    if (draws_few_features_ || !root->split.found()) {
        histograms_.release(root->histogram);
        root->histogram = nullptr;
    }
}

bool Grower::is_splittable(const GrowingNode& node) const {
    return node.all_count >= 2 && node.all_count >= 2 * std::uint64_t{options_->min_samples_leaf} &&
           (options_->max_depth == 0 || node.depth < options_->max_depth);
}

// Expands the next node. If it is small, the other threads expand small nodes after it at the same
// time. They will probably be next, and the expansion of a node that is never needed is discarded.
// The tree is therefore the same for any number of threads.
void Grower::expand_some(Frontier& frontier, std::size_t budget) {
    GrowingNode& first = **frontier.begin();
    bool is_last_split = budget == 1;
    if (first.count >= kSharedRows || team_->size() == 1) {
        prepare_expansion(first, is_last_split);
        expand(first, is_last_split, team_->size() > 1 ? team_ : nullptr, 0);
        return;
    }
    std::vector<GrowingNode*> batch;
    std::size_t max_batch = std::min<std::size_t>(budget, team_->size());
    std::size_t work = 0;
    for (GrowingNode* node : frontier) {
        if (batch.size() == max_batch) break;
        if (node->expanded || node->count >= kSharedRows) continue;
        batch.push_back(node);
        work += node->count * matrix_->layout().active.size() + matrix_->layout().histogram_size;
    }
    // Waking another thread takes longer than a few thousand additions.
    if (work < 16'000) batch.resize(1);
    for (GrowingNode* node : batch) prepare_expansion(*node, is_last_split);
    team_->run(batch.size(), [&](std::size_t i, int worker) {
        expand(*batch[i], is_last_split, nullptr, worker);
    });
}

// Expands the next nodes of all parts. Each part builds the histograms of its own rows; they are
// combined in one message. The smaller child is the one with the smaller sum of Hessians, because
// the numbers of rows of all parts are in the same message.
void Grower::expand_together(Frontier& frontier, std::size_t budget) {
    bool is_last_split = budget == 1;
    std::vector<GrowingNode*> batch;
    for (GrowingNode* node : frontier) {
        if (batch.size() == std::min(budget, kNodesPerMessage)) break;
        if (!node->expanded) batch.push_back(node);
    }
    message_.clear();
    for (GrowingNode* node : batch) {
        prepare_expansion(*node, is_last_split);
        divide(*node, team_, 0);
        if (is_last_split) continue;
        GrowingNode& small = node->smaller_by_hessian();
        small.histogram = node->child_histogram;
        build_histogram(small, team_, 0);
        message_.push_back(static_cast<std::int64_t>(node->left->count));
        append_to_message(small.histogram);
    }
    if (is_last_split) return;
    reducer_->add(message_);
    std::size_t position = 0;
    for (GrowingNode* node : batch) {
        node->left->all_count = static_cast<std::uint64_t>(message_[position]);
        node->right->all_count = node->all_count - node->left->all_count;
        GrowingNode& small = node->smaller_by_hessian();
        GrowingNode& large = &small == node->left ? *node->right : *node->left;
        position = read_from_message(position + 1, small.histogram);
        large.histogram = node->histogram;
        find_splits(is_splittable(small) ? &small : nullptr,
                    is_splittable(large) ? &large : nullptr, small.histogram, team_, 0);
    }
}

// Only the entries of bins that exist, not all 256 of a feature.
void Grower::append_to_message(const PackedGradient* histogram) {
    for (std::uint32_t f : matrix_->layout().active) {
        const FeaturePlace& place = matrix_->layout().features[f];
        const PackedGradient* entries = histogram + place.histogram;
        message_.insert(message_.end(), entries, entries + place.bins);
    }
}

// Returns the position after the histogram.
std::size_t Grower::read_from_message(std::size_t position, PackedGradient* histogram) const {
    for (std::uint32_t f : matrix_->layout().active) {
        const FeaturePlace& place = matrix_->layout().features[f];
        std::copy_n(message_.data() + position, place.bins, histogram + place.histogram);
        position += place.bins;
    }
    return position;
}

// Changes of the grower's own lists are done here, before the threads start.
void Grower::prepare_expansion(GrowingNode& node, bool is_last_split) {
    node.left = new_node();
    node.right = new_node();
    column_copies_.announce(node.split.feature, node.count, *team_);
    if (!is_last_split) node.child_histogram = histograms_.acquire();
}

// Divides the rows of a node between its children.
void Grower::divide(GrowingNode& node, Team* team, int worker) {
    GrowingNode& left = *node.left;
    GrowingNode& right = *node.right;
    for (GrowingNode* child : {&left, &right}) {
        child->depth = node.depth + 1;
        child->key = hash64(node.key, child == &left ? 0 : 1, 0);
        if (!options_->interactions.empty()) {
            child->path_features = node.path_features;
            child->path_features.push_back(node.split.feature);
        }
    }
    left.sum = node.split.left_sum;
    right.sum = node.sum - left.sum;
    set_child_bounds(node);
    partition(node, team, worker);
    node.expanded = true;
}

void Grower::expand(GrowingNode& node, bool is_last_split, Team* team, int worker) {
    divide(node, team, worker);
    GrowingNode& left = *node.left;
    GrowingNode& right = *node.right;
    left.all_count = left.count;
    right.all_count = right.count;
    if (is_last_split || (!is_splittable(left) && !is_splittable(right))) return;

    if (draws_few_features_) {
        for (GrowingNode* child : {&left, &right})
            if (is_splittable(*child))
                find_split_among_few(*child, node.child_histogram, team, worker);
        return;
    }
    bool left_smaller = left.count <= right.count;
    GrowingNode& small = left_smaller ? left : right;
    GrowingNode& large = left_smaller ? right : left;
    Team* builders = small.count >= kSharedRows / 4 ? team : nullptr;
    small.histogram = node.child_histogram;
    large.histogram = node.histogram;
    build_histogram(small, builders, worker);
    find_splits(is_splittable(small) ? &small : nullptr, is_splittable(large) ? &large : nullptr,
                small.histogram, team, worker);
}

// The values of the children of a monotone split must stay on their side of the midpoint between
// them.
void Grower::set_child_bounds(GrowingNode& node) {
    node.left->bounds = node.right->bounds = node.bounds;
    if (options_->monotone.empty()) return;
    int direction = options_->monotone[node.split.feature];
    if (direction == 0) return;
    bound_children(direction, finder_.leaf_value(node.left->sum, node.bounds),
                   finder_.leaf_value(node.right->sum, node.bounds), node.left->bounds,
                   node.right->bounds);
}

void Grower::commit(GrowingNode& node, GrownTree& out, Frontier& frontier) {
    auto left = static_cast<std::uint32_t>(out.tree.nodes.size());
    out.tree.nodes.resize(left + 2);
    out.tree.stats.resize(left + 2);
    out.split_bins.resize(left + 2);
    const Split& split = node.split;
    Node& tree_node = out.tree.nodes[node.index];
    tree_node.left = left;
    tree_node.tag = split.feature | (split.missing_left ? Node::kMissingLeft : 0);
    if (split.left_bins.empty()) {
        const std::vector<double>& edges = bins_[split.feature].edges;
        // After the last edge only missing values go right.
        tree_node.set_threshold(split.bin <= edges.size()
                                    ? edges[split.bin - 1]
                                    : std::numeric_limits<double>::infinity());
        out.split_bins[node.index] = split.bin;
    } else {
        out.tree.set_left_categories(tree_node, categories_of_bins(split.left_bins));
    }
    out.tree.stats[node.index] = {NodeStats::finite(split.gain), 0};
    node.left->index = left;
    node.right->index = left + 1;
    // A child has taken over the histogram of the parent, or it is not needed any more.
    if (node.left->histogram != node.histogram && node.right->histogram != node.histogram)
        histograms_.release(node.histogram);
    if (node.left->histogram != node.child_histogram &&
        node.right->histogram != node.child_histogram)
        histograms_.release(node.child_histogram);
    for (GrowingNode* child : {node.left, node.right}) {
        if (child->split.found()) {
            frontier.insert(child);
        } else {
            histograms_.release(child->histogram);
            finish_leaf(*child, out);
        }
    }
    node.histogram = node.child_histogram = nullptr;
}

void Grower::finish_leaf(GrowingNode& node, GrownTree& out) {
    out.leaves.push_back({node.index, node.rows(rows_), node.bounds});
    if (node.split.found()) {
        histograms_.release(node.histogram);
        // The node was expanded in advance but not used.
        if (node.expanded && node.child_histogram != nullptr &&
            node.child_histogram != node.histogram)
            histograms_.release(node.child_histogram);
    }
}

std::size_t Grower::mark(const GrowingNode& node, RowSet rows,
                         const std::vector<std::uint8_t>& table, std::uint64_t* marks) const {
    const Split& split = node.split;
    const FeaturePlace& place = matrix_->layout().features[split.feature];
    if (place.wide)
        return kernels_->mark_wide(matrix_->wide_column(place), rows, table.data(), marks);
    NarrowColumn column = column_copies_.column(split.feature);
    if (!table.empty()) return kernels_->mark_table(column, rows, table.data(), marks);
    std::uint8_t shift = split.missing_left ? 0 : 1;
    return kernels_->mark_below(column, rows, shift, static_cast<std::uint8_t>(split.bin - shift),
                                marks);
}

// First all rows are marked left or right, then they are written to their positions. Since the
// counts are known by then, chunks can be written in parallel and in order.
void Grower::partition(GrowingNode& node, Team* team, int worker) {
    Stopwatch watch(worker_timings_[worker].partition);
    RowSet rows = node.rows(rows_);
    std::vector<std::uint8_t> table;
    if (!node.split.left_bins.empty()) {
        table.assign(matrix_->layout().features[node.split.feature].bins, 0);
        for (std::uint32_t bin : node.split.left_bins) table[bin] = 1;
        table[0] = node.split.missing_left;
    }
    std::uint32_t* out = rows_[(node.depth + 1) % 2].data() + node.begin;
    std::size_t n_left = 0;
    if (team == nullptr) {
        std::uint64_t* marks =
            rows.count <= kSharedRows ? worker_marks_[worker].data() : marks_.data();
        n_left = mark(node, rows, table, marks);
        kernels_->split_rows(rows, marks, out, out + n_left);
    } else {
        std::size_t chunks = chunk_count(rows.count);
        std::vector<std::size_t> lefts_before(chunks + 1);
        team->run(chunks, [&](std::size_t chunk, int) {
            lefts_before[chunk + 1] =
                mark(node, chunk_of(rows, chunk), table, marks_.data() + chunk * (kChunkRows / 64));
        });
        std::partial_sum(lefts_before.begin(), lefts_before.end(), lefts_before.begin());
        n_left = lefts_before[chunks];
        team->run(chunks, [&](std::size_t chunk, int) {
            std::size_t rights_before = chunk * kChunkRows - lefts_before[chunk];
            kernels_->split_rows(chunk_of(rows, chunk), marks_.data() + chunk * (kChunkRows / 64),
                                 out + lefts_before[chunk], out + n_left + rights_before);
        });
    }
    node.left->begin = node.begin;
    node.left->count = n_left;
    node.right->begin = node.begin + n_left;
    node.right->count = rows.count - n_left;
}

void Grower::build_histogram(const GrowingNode& node, Team* team, int worker) {
    Stopwatch watch(worker_timings_[worker].histogram);
    histograms_.build(node.rows(rows_), gradients_, node.histogram, team);
}

// The features that a node may split on: those drawn for the tree, the level and the node that may
// interact with the features on its path.
std::vector<std::uint32_t> Grower::features_for(const GrowingNode& node) const {
    std::vector<std::uint32_t> features =
        draw(tree_features_, options_->features_by_level, key_, 2 + node.depth);
    if (!options_->interactions.empty()) {
        std::vector<std::uint8_t> allowed(matrix_->layout().features.size());
        for (const auto& group : options_->interactions) {
            bool contains_path = std::all_of(
                node.path_features.begin(), node.path_features.end(), [&](std::uint32_t f) {
                    return std::find(group.begin(), group.end(), f) != group.end();
                });
            if (contains_path)
                for (std::uint32_t f : group) allowed[f] = 1;
        }
        std::erase_if(features, [&](std::uint32_t f) { return !allowed[f]; });
    }
    return draw(std::move(features), options_->features_by_node, node.key, 0);
}

// Finds the best split of a node on the features drawn for it. `histogram` is used for their
// entries, and for nothing afterwards.
void Grower::find_split_among_few(GrowingNode& node, PackedGradient* histogram, Team* team,
                                  int worker) {
    Stopwatch watch(worker_timings_[worker].split);
    const Layout& layout = matrix_->layout();
    std::vector<std::uint32_t> features = features_for(node);
    RowSet rows = node.rows(rows_);
    NodeToSplit prepared =
        finder_.prepare_node(rows, node.all_count, histogram, node.sum, node.bounds, node.key);
    std::vector<Split>& candidates = worker_candidates_[2 * worker];
    candidates.assign(features.size(), Split{});
    auto search = [&](std::size_t i, int) {
        const FeaturePlace& place = layout.features[features[i]];
        histograms_.build_feature(features[i], rows, gradients_, histogram);
        if (!place.categorical) kernels_->accumulate(histogram + place.histogram, place.bins);
        finder_.find_best_split_on(features[i], prepared, candidates[i]);
    };
    if (team != nullptr)
        team->run(features.size(), search);
    else
        for (std::size_t i = 0; i < features.size(); ++i) search(i, worker);
    node.split = finder_.choose_split(candidates, prepared);
}

// `built` has its own histogram. `derived` holds the histogram of its parent, from which that of
// its sibling is subtracted. Each feature is subtracted and then scanned while it is in the
// first-level cache.
void Grower::find_splits(GrowingNode* built, GrowingNode* derived, PackedGradient* built_histogram,
                         Team* team, int worker) {
    Stopwatch watch(worker_timings_[worker].split);
    const Layout& layout = matrix_->layout();
    struct Search {
        GrowingNode* node;
        NodeToSplit prepared;
        std::vector<Split>& candidates;
        std::vector<std::uint8_t> allowed;  // by feature; empty: all features
    };
    std::vector<Search> searches;
    searches.reserve(2);
    for (GrowingNode* node : {built, derived}) {
        if (node == nullptr) continue;
        std::vector<Split>& candidates = worker_candidates_[2 * worker + searches.size()];
        candidates.assign(layout.active.size(), Split{});
        searches.push_back(
            {node,
             finder_.prepare_node(node->rows(rows_), node->all_count, node->histogram, node->sum,
                                  node->bounds, node->key),
             candidates,
             {}});
        if (!draws_features_) continue;
        searches.back().allowed.resize(layout.features.size());
        for (std::uint32_t f : features_for(*node)) searches.back().allowed[f] = 1;
    }
    auto scan = [&](std::size_t i) {
        std::uint32_t f = layout.active[i];
        const FeaturePlace& place = layout.features[f];
        PackedGradient* entries = built_histogram + place.histogram;
        if (!place.categorical) kernels_->accumulate(entries, place.bins);
        if (derived != nullptr)
            kernels_->subtract(derived->histogram + place.histogram, entries, place.bins);
        for (Search& search : searches)
            if (search.allowed.empty() || search.allowed[f])
                finder_.find_best_split_on(f, search.prepared, search.candidates[i]);
    };
    if (team == nullptr) {
        for (std::size_t i = 0; i < layout.active.size(); ++i) scan(i);
    } else {
        std::size_t tasks = std::min<std::size_t>(layout.active.size(), 4 * team->size());
        team->run(tasks, [&](std::size_t task, int) {
            Range range = even_range(layout.active.size(), tasks, task);
            for (std::size_t i = range.begin; i < range.end; ++i) scan(i);
        });
    }
    for (Search& search : searches)
        search.node->split = finder_.choose_split(search.candidates, search.prepared);
}

}  // namespace bosquet
