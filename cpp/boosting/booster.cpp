#include "boosting/booster.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/stopwatch.hpp"
#include "boosting/route.hpp"

namespace bosquet {

Booster::Booster(FitData& train, std::span<const FeatureBins> bins, Loss loss, BoostOptions options,
                 Isa isa, Team& team)
    : train_(&train),
      loss_(std::move(loss)),
      options_(std::move(options)),
      isa_(isa),
      team_(&team),
      grower_(train.matrix(), bins, options_.grow, isa, team, *train.part().reducer),
      rounds_(options_.first_round),
      pairs_(train.rows() * loss_.outputs()),
      packed_(train.rows()),
      leaf_of_row_(train.rows()) {}

double Booster::mean_loss(const FitData& fit_data) {
    LossData data = fit_data.loss_data();
    if (losses_.size() < data.rows) losses_ = Buffer<double>(data.rows);
    team_->run(block_count(data.rows), [&](std::size_t index, int) {
        Range range = block_range(data.rows, index);
        loss_.values(data, range, isa_, losses_.data() + range.begin);
    });
    return data.sum([&](std::size_t i) { return losses_[i]; }) / data.total_weight();
}

double Booster::sampled_train_loss() {
    constexpr std::size_t kStretches = 32, kStretchRows = 512;
    LossData data = train_->loss_data();
    constexpr std::size_t kSampled = kStretches * kStretchRows;
    if (data.all_rows <= kSampled) return mean_loss(*train_);
    if (losses_.size() < kSampled) losses_ = Buffer<double>(kSampled);
    std::vector<std::size_t> rows;
    for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
        std::uint64_t begin = (data.all_rows - kStretchRows) / (kStretches - 1) * stretch;
        for (Range range :
             train_->part().rows_with_numbers(begin, begin + kStretchRows, data.rows)) {
            loss_.values(data, range, isa_, losses_.data() + rows.size());
            for (std::size_t row = range.begin; row < range.end; ++row) rows.push_back(row);
        }
    }
    auto loss = [&](std::size_t i) { return losses_[i]; };
    auto weight = [&](std::size_t i) { return data.weight_of(rows[i]); };
    double sum = fixed_sum(rows.size(), loss, kSampled, *data.reducer);
    double total = fixed_sum(rows.size(), weight, kSampled, *data.reducer);
    return total > 0 ? sum / total : 0.0;
}

// The number of parts into which the rows are divided for loops over all outputs without sums. With
// many outputs a few thousand rows are work for several threads.
std::size_t Booster::output_parts(std::size_t rows) const {
    return std::min(rows, block_count(rows * loss_.outputs()));
}

void Booster::compute_gradients(std::span<const GradientPair> custom_gradients) {
    Stopwatch watch(timings_.gradient);
    LossData data = train_->loss_data();
    if (custom_gradients.empty()) loss_.start_round(data);
    std::size_t parts = output_parts(data.rows);
    std::vector<GradientRange> worker_ranges(team_->size() * loss_.outputs());
    team_->run(parts, [&](std::size_t index, int worker) {
        Range range = even_range(data.rows, parts, index);
        if (custom_gradients.empty()) {
            loss_.gradients(data, range, isa_, pairs_.data());
        } else {
            for (std::uint32_t k = 0; k < loss_.outputs(); ++k)
                std::copy_n(custom_gradients.data() + k * data.rows + range.begin, range.size(),
                            pairs_.data() + k * data.rows + range.begin);
        }
        for (std::uint32_t k = 0; k < loss_.outputs(); ++k) {
            GradientPair* pairs = pairs_.data() + k * data.rows;
            // For a least-squares tree on the pseudo-residuals, every row counts with its weight.
            for (std::size_t i = range.begin; !options_.newton && i < range.end; ++i)
                pairs[i].h = data.weight != nullptr ? static_cast<float>(data.weight[i]) : 1.0f;
            worker_ranges[worker * loss_.outputs() + k].include(
                select_quantise_kernels(isa_).range(pairs + range.begin, range.size()));
        }
    });
    ranges_.assign(loss_.outputs(), GradientRange{});
    for (std::size_t i = 0; i < worker_ranges.size(); ++i)
        ranges_[i % loss_.outputs()].include(worker_ranges[i]);
    reduce_ranges(ranges_);
}

// The ranges of all parts. The smallest number is the complement of the largest complement.
void Booster::reduce_ranges(std::span<GradientRange> ranges) const {
    std::vector<std::uint64_t> numbers;
    for (const GradientRange& range : ranges)
        numbers.insert(numbers.end(), {range.max_g, ~range.min_h, range.max_h});
    train_->part().reducer->maximise(numbers);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        ranges[i].max_g = static_cast<std::uint32_t>(numbers[3 * i]);
        ranges[i].min_h = ~static_cast<std::uint32_t>(numbers[3 * i + 1]);
        ranges[i].max_h = static_cast<std::uint32_t>(numbers[3 * i + 2]);
        ranges[i].check();
    }
}

GradientRange Booster::range_of(const GradientPair* pairs) const {
    std::size_t rows = train_->rows();
    std::vector<GradientRange> ranges(team_->size());
    team_->run(block_count(rows), [&](std::size_t index, int worker) {
        Range range = block_range(rows, index);
        ranges[worker].include(
            select_quantise_kernels(isa_).range(pairs + range.begin, range.size()));
    });
    for (const GradientRange& range : ranges) ranges[0].include(range);
    reduce_ranges({ranges.data(), 1});
    return ranges[0];
}

GradientScale Booster::scale_of(const GradientPair* pairs, const GradientRange& range) const {
    std::size_t rows = train_->rows();
    std::uint64_t all_rows = train_->all_rows();
    FixedUnit g_unit = fixed_unit(range.largest_g(), all_rows);
    FixedUnit h_unit = fixed_unit(range.largest_h(), all_rows);
    std::vector<GradientMultiples> sums(team_->size());
    team_->run(block_count(rows), [&](std::size_t index, int worker) {
        Range part = block_range(rows, index);
        GradientMultiples sum = select_quantise_kernels(isa_).sums(
            pairs + part.begin, part.size(), g_unit.per_unit, h_unit.per_unit);
        sums[worker].absolute_g += sum.absolute_g;
        sums[worker].h += sum.h;
    });
    std::int64_t totals[] = {0, 0};
    for (const GradientMultiples& sum : sums) {
        totals[0] += sum.absolute_g;
        totals[1] += sum.h;
    }
    train_->part().reducer->add(totals);
    double h = h_unit.value_of(totals[1]);
    GradientScale scale = scale_for(range, g_unit.value_of(totals[0]), h, all_rows, rounding());
    if (options_.grow.split_noise > 0 && h > 0)
        scale.random_decrease = sum_squared_gradients(pairs, range) / h;
    return scale;
}

double Booster::sum_squared_gradients(const GradientPair* pairs, const GradientRange& range) const {
    std::size_t rows = train_->rows();
    double largest = range.largest_g();
    FixedUnit unit = fixed_unit(largest * largest, train_->all_rows());
    std::vector<std::int64_t> sums(team_->size());
    team_->run(block_count(rows), [&](std::size_t index, int worker) {
        Range part = block_range(rows, index);
        sums[worker] += select_quantise_kernels(isa_).squared_gradients(pairs + part.begin,
                                                                        part.size(), unit.per_unit);
    });
    std::int64_t total = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
    return unit.value_of(train_->part().reducer->sum_of(total));
}

Rounding Booster::rounding() const {
    bool is_large = train_->all_rows() > options_.stochastic_rounding_above;
    return is_large ? Rounding::stochastic : Rounding::nearest;
}

GradientScale Booster::quantise(const GradientPair* pairs, const GradientRange& range,
                                std::uint64_t key) {
    std::size_t rows = train_->rows();
    const Part& part = train_->part();
    const QuantiseKernels& kernels = select_quantise_kernels(isa_);
    GradientScale scale = scale_of(pairs, range);
    double per_gradient = 1 / scale.gradient_unit, per_hessian = 1 / scale.hessian_unit;
    team_->run(block_count(rows), [&](std::size_t index, int) {
        Range rest = block_range(rows, index);
        if (rounding() == Rounding::nearest) {
            kernels.quantise(pairs + rest.begin, rest.size(), per_gradient, per_hessian,
                             packed_.data() + rest.begin);
            return;
        }
        while (rest.size() > 0) {
            Range run = part.first_consecutive(rest);
            kernels.quantise_stochastically(pairs + run.begin, run.size(), per_gradient,
                                            per_hessian, key, part.number_of(run.begin),
                                            packed_.data() + run.begin);
            rest.begin = run.end;
        }
    });
    return scale;
}

void Booster::round(Ensemble& ensemble, std::span<const GradientPair> custom_gradients,
                    const LeafValues& leaf_values, FitData* validation) {
    std::size_t rows = train_->rows();
    choose_version();
    compute_gradients(custom_gradients);
    bool sampled = options_.subsample < 1;
    if (sampled) {
        Stopwatch watch(timings_.sample);
        if (options_.gradient_sampling)
            sampler_.draw_by_gradient(pairs_.data(), ranges_, rows, train_->part(),
                                      options_.subsample, options_.seed, rounds_, *team_);
        else
            sampler_.draw_uniform(rows, train_->part(), options_.subsample, options_.seed, rounds_,
                                  *team_);
    }
    std::vector<Tree> trees;  // added to the ensemble when all outputs have one
    for (std::uint32_t k = 0; k < ensemble.trees_per_round(); ++k) {
        std::uint64_t key = hash64(options_.seed, rounds_, k);  // of all random draws of the tree
        GradientScale scale;
        {
            Stopwatch watch(timings_.gradient);
            const GradientPair* pairs =
                ensemble.vector_leaves ? mix_gradients() : split_gradients(k);
            bool of_output = pairs == pairs_.data() + k * rows;
            scale = quantise(pairs, of_output ? ranges_[k] : range_of(pairs), key);
        }
        GrownTree grown;
        {
            Stopwatch watch(timings_.grow);
            std::optional<std::span<const std::uint32_t>> sample;
            if (sampled) sample = sampler_.rows();
            grown = grower_.grow(packed_.data(), scale, sample, key);
        }
        std::uint32_t first = k, last = ensemble.vector_leaves ? loss_.outputs() : k + 1;
        std::vector<std::vector<double>> values;  // by output, then by leaf
        {
            Stopwatch watch(timings_.leaves);
            assign_leaves(grown);
            for (std::uint32_t output = first; output < last; ++output)
                values.push_back(compute_shrunken_values(grown, output, leaf_values));
            store_values(values, ensemble.vector_leaves, grown);
        }
        {
            Stopwatch watch(timings_.update);
            for (std::uint32_t output = first; output < last; ++output)
                update(values[output - first], leaf_of_row_.data(), train_->raw(output), rows);
        }
        if (validation != nullptr) {
            Stopwatch watch(timings_.validation);
            if (validation_leaf_.size() != validation->rows())
                validation_leaf_ = Buffer<std::uint16_t>(validation->rows());
            Router router(grown, validation->matrix(), leaf_of_node_, isa_);
            team_->run(block_count(validation->rows()), [&](std::size_t index, int) {
                router.route(block_range(validation->rows(), index), validation_leaf_.data());
            });
            for (std::uint32_t output = first; output < last; ++output)
                update(values[output - first], validation_leaf_.data(), validation->raw(output),
                       validation->rows());
        }
        trees.push_back(std::move(grown.tree));
    }
    for (Tree& tree : trees) ensemble.add(std::move(tree));
    ++rounds_;
    timings_.growing = grower_.timings();
}

// The gradients of one output by which splits are found. If rows were drawn by gradient, they are
// scaled by the inverse of their probability.
const GradientPair* Booster::split_gradients(std::uint32_t output) const {
    bool scaled = options_.subsample < 1 && options_.gradient_sampling;
    return scaled ? sampler_.scaled(output) : pairs_.data() + output * train_->rows();
}

// The gradients by which the splits of a tree with vector leaves are found: the sum over the
// outputs, each with a random sign. For classes, such a tree separates one random group of classes
// from the others, and every round draws another group. This needs one histogram instead of one per
// output.
const GradientPair* Booster::mix_gradients() {
    std::size_t rows = train_->rows();
    if (mixed_pairs_.size() != rows) mixed_pairs_ = Buffer<GradientPair>(rows);
    std::vector<float> signs = draw_signs();
    std::size_t parts = output_parts(rows);
    team_->run(parts, [&](std::size_t index, int) {
        Range range = even_range(rows, parts, index);
        std::fill_n(mixed_pairs_.data() + range.begin, range.size(), GradientPair{});
        for (std::uint32_t k = 0; k < signs.size(); ++k) {
            const GradientPair* pairs = split_gradients(k);
            for (std::size_t row = range.begin; row < range.end; ++row) {
                mixed_pairs_[row].g += signs[k] * pairs[row].g;
                mixed_pairs_[row].h += pairs[row].h;
            }
        }
    });
    return mixed_pairs_.data();
}

// A random sign for each output. They are not all equal: the gradients of all classes add up to 0.
std::vector<float> Booster::draw_signs() const {
    std::vector<float> signs(loss_.outputs());
    std::uint64_t seed = hash64(options_.seed, rounds_, loss_.outputs());
    for (std::uint64_t attempt = 0;; ++attempt) {
        for (std::uint32_t k = 0; k < signs.size(); ++k)
            signs[k] = (hash64(seed, attempt, k) & 1) != 0 ? 1.0f : -1.0f;
        if (std::adjacent_find(signs.begin(), signs.end(), std::not_equal_to<>()) != signs.end())
            return signs;
    }
}

// With several versions of the training rows, version 0 gives the leaf of each row, and the others
// take turns in finding the splits. A split that fits the noise of one version then gets the values
// that it deserves in another.
void Booster::choose_version() {
    std::size_t others = train_->versions() - 1;
    if (others > 0) grower_.set_matrix(train_->matrix(1 + rounds_ % others));
}

// Stores for each row its leaf, so that later loops read the rows in order.
void Booster::assign_leaves(const GrownTree& grown) {
    leaf_of_node_.assign(grown.tree.nodes.size(), 0);
    for (std::size_t leaf = 0; leaf < grown.leaves.size(); ++leaf)
        leaf_of_node_[grown.leaves[leaf].node] = static_cast<std::uint16_t>(leaf);
    std::size_t rows = train_->rows();
    if (options_.subsample < 1 || train_->versions() > 1) {
        Router router(grown, train_->matrix(), leaf_of_node_, isa_);
        team_->run(block_count(rows), [&](std::size_t index, int) {
            router.route(block_range(rows, index), leaf_of_row_.data());
        });
        return;
    }
    std::uint16_t* leaf_of_row = leaf_of_row_.data();
    auto assign = [&](std::size_t leaf, int) {
        const RowSet& set = grown.leaves[leaf].rows;
        for (std::size_t i = 0; i < set.count; ++i)
            leaf_of_row[set.row(i)] = static_cast<std::uint16_t>(leaf);
    };
    if (rows >= 2 * kBlockRows)
        team_->run(grown.leaves.size(), assign);
    else
        for (std::size_t leaf = 0; leaf < grown.leaves.size(); ++leaf) assign(leaf, 0);
}

double Booster::clip_to_step(double value) const {
    double step = options_.grow.max_delta_step;
    return step > 0 ? std::clamp(value, -step, step) : value;
}

// The values of the leaves for one output, multiplied by the learning rate.
std::vector<double> Booster::compute_shrunken_values(GrownTree& grown, std::uint32_t output,
                                                     const LeafValues& leaf_values) {
    std::vector<double> values = options_.newton ? compute_newton_values(grown, output)
                                                 : compute_exact_values(grown, output, leaf_values);
    for (std::size_t leaf = 0; leaf < values.size(); ++leaf) {
        const ValueBounds& bounds = grown.leaves[leaf].bounds;
        values[leaf] = std::clamp(clip_to_step(values[leaf]), bounds.lower, bounds.upper);
        values[leaf] *= options_.learning_rate;
        if (!std::isfinite(values[leaf]))
            throw InputError(
                "the value of a leaf is not finite because weights or targets are too large; "
                "rescale them");
    }
    return values;
}

void Booster::store_values(const std::vector<std::vector<double>>& values, bool vector_leaves,
                           GrownTree& grown) const {
    for (std::size_t leaf = 0; leaf < grown.leaves.size(); ++leaf) {
        std::uint32_t node = grown.leaves[leaf].node;
        if (vector_leaves)
            grown.tree.nodes[node].set_vector_index(leaf);
        else
            grown.tree.nodes[node].set_leaf_value(values[0][leaf]);
        for (std::size_t k = 0; vector_leaves && k < values.size(); ++k)
            grown.tree.leaf_values.push_back(values[k][leaf]);
        grown.tree.stats[node].cover = static_cast<float>(leaf_rows_[leaf]);
    }
    set_cover(grown);
}

// If rows were drawn by gradient, all rows are summed, since the gradients of the other rows are
// known as well.
std::vector<Booster::LeafSum> Booster::sum_by_leaf(std::size_t leaves, const GradientPair* pairs,
                                                   FixedUnit g_unit, FixedUnit h_unit) const {
    std::size_t rows = train_->rows();
    bool only_sampled = options_.subsample < 1 && !options_.gradient_sampling;
    std::span<const std::uint32_t> drawn = sampler_.rows();
    std::vector<std::vector<LeafSum>> worker_sums(team_->size());
    team_->run(block_count(rows), [&](std::size_t index, int worker) {
        Range range = block_range(rows, index);
        std::vector<LeafSum>& sums = worker_sums[worker];
        sums.resize(leaves);
        auto add = [&](std::size_t row) {
            LeafSum& sum = sums[leaf_of_row_[row]];
            sum.g += to_multiple(pairs[row].g, g_unit.per_unit);
            sum.h += to_multiple(pairs[row].h, h_unit.per_unit);
            ++sum.rows;
        };
        if (only_sampled) {
            auto begin = std::lower_bound(drawn.begin(), drawn.end(), range.begin);
            auto end = std::lower_bound(begin, drawn.end(), range.end);
            for (auto row = begin; row != end; ++row) add(*row);
        } else {
            for (std::size_t row = range.begin; row < range.end; ++row) add(row);
        }
    });
    std::vector<LeafSum> totals(leaves);
    for (const std::vector<LeafSum>& sums : worker_sums)
        for (std::size_t leaf = 0; leaf < sums.size(); ++leaf) {
            totals[leaf].g += sums[leaf].g;
            totals[leaf].h += sums[leaf].h;
            totals[leaf].rows += sums[leaf].rows;
        }
    // The reducer reads the sums as one array.
    static_assert(std::is_standard_layout_v<LeafSum> &&
                  sizeof(LeafSum) == 3 * sizeof(std::int64_t));
    train_->part().reducer->add({&totals[0].g, 3 * leaves});
    return totals;
}

// Computes -G / (H + l2) from the gradients before their conversion to integers.
std::vector<double> Booster::compute_newton_values(const GrownTree& grown, std::uint32_t output) {
    std::size_t leaves = grown.leaves.size();
    const GradientPair* pairs = pairs_.data() + output * train_->rows();
    const GradientRange& range = ranges_[output];
    FixedUnit g_unit = fixed_unit(range.largest_g(), train_->all_rows());
    FixedUnit h_unit = fixed_unit(range.largest_h(), train_->all_rows());
    std::vector<LeafSum> sums = sum_by_leaf(leaves, pairs, g_unit, h_unit);
    std::vector<double> values(leaves);
    leaf_rows_.assign(leaves, 0);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        double curvature = h_unit.value_of(sums[leaf].h) + options_.grow.l2;
        values[leaf] = curvature > 0 ? -g_unit.value_of(sums[leaf].g) / curvature : 0.0;
        leaf_rows_[leaf] = static_cast<double>(sums[leaf].rows);
    }
    return values;
}

std::vector<double> Booster::compute_exact_values(GrownTree& grown, std::uint32_t output,
                                                  const LeafValues& leaf_values) {
    std::size_t leaves = grown.leaves.size();
    std::vector<std::vector<std::uint32_t>> members = list_leaf_members(grown);
    std::vector<std::int64_t> counts;
    for (const auto& rows : members) counts.push_back(static_cast<std::int64_t>(rows.size()));
    train_->part().reducer->add(counts);
    leaf_rows_.assign(counts.begin(), counts.end());
    if (leaf_values) return leaf_values({leaf_of_row_.data(), train_->rows()}, leaves, output);
    LossData data = train_->loss_data();
    std::vector<double> values(leaves);
    if (data.reducer->is_distributed())
        values = loss_.minimisers(data, members, output);
    else
        team_->run(leaves, [&](std::size_t leaf, int) {
            values[leaf] = loss_.minimiser(data, members[leaf], output);
        });
    if (!options_.grow.monotone.empty()) bound_by_minimisers(grown, members, output);
    return values;
}

// The rows on which the minimiser of a leaf is computed: the rows drawn for the tree, or all rows
// if they were drawn with unequal probabilities, because the minimiser of the drawn rows would be
// biased.
std::vector<std::vector<std::uint32_t>> Booster::list_leaf_members(const GrownTree& grown) const {
    std::vector<std::vector<std::uint32_t>> members(grown.leaves.size());
    bool sampled = options_.subsample < 1, by_gradient = sampled && options_.gradient_sampling;
    bool routed = train_->versions() > 1;  // the leaves of the rows are not those of growing
    auto add = [&](std::uint32_t row) { members[leaf_of_row_[row]].push_back(row); };
    if (by_gradient || (routed && !sampled)) {
        for (std::size_t row = 0; row < train_->rows(); ++row) add(static_cast<std::uint32_t>(row));
        return members;
    }
    if (routed) {
        for (std::uint32_t row : sampler_.rows()) add(row);
        return members;
    }
    for (std::size_t leaf = 0; leaf < members.size(); ++leaf) {
        const RowSet& set = grown.leaves[leaf].rows;
        members[leaf].resize(set.count);
        if (set.rows != nullptr)
            std::copy_n(set.rows, set.count, members[leaf].begin());
        else
            std::iota(members[leaf].begin(), members[leaf].end(),
                      static_cast<std::uint32_t>(set.first));
    }
    return members;
}

// Growing computes bounds in the unit of gradients, but minimisers have the unit of the target. The
// bounds of monotone splits are therefore computed again from the minimisers of the two sides,
// parents first.
void Booster::bound_by_minimisers(GrownTree& grown,
                                  const std::vector<std::vector<std::uint32_t>>& members,
                                  std::uint32_t output) const {
    const std::vector<Node>& nodes = grown.tree.nodes;
    std::vector<std::vector<std::uint32_t>> rows(nodes.size());
    for (std::size_t leaf = 0; leaf < members.size(); ++leaf)
        rows[grown.leaves[leaf].node] = members[leaf];
    for (std::size_t at = nodes.size(); at-- > 0;)
        for (std::uint32_t side = 0; side < 2 && !nodes[at].is_leaf(); ++side) {
            const auto& child = rows[nodes[at].left + side];
            rows[at].insert(rows[at].end(), child.begin(), child.end());
        }
    std::vector<ValueBounds> bounds(nodes.size());
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        if (nodes[at].is_leaf()) continue;
        std::uint32_t left = nodes[at].left;
        bounds[left] = bounds[left + 1] = bounds[at];
        int direction = options_.grow.monotone[nodes[at].feature()];
        if (direction == 0) continue;
        auto value = [&](std::uint32_t child) {
            double best = clip_to_step(loss_.minimiser(train_->loss_data(), rows[child], output));
            return std::clamp(best, bounds[at].lower, bounds[at].upper);
        };
        bound_children(direction, value(left), value(left + 1), bounds[left], bounds[left + 1]);
    }
    for (GrownLeaf& leaf : grown.leaves) leaf.bounds = bounds[leaf.node];
}

// Children come after their parents, so that one pass from the end sums them.
void Booster::set_cover(GrownTree& grown) const {
    std::vector<NodeStats>& stats = grown.tree.stats;
    for (std::size_t at = stats.size(); at-- > 0;) {
        std::uint32_t left = grown.tree.nodes[at].left;
        if (left != 0) stats[at].cover = stats[left].cover + stats[left + 1].cover;
    }
}

void Booster::update(const std::vector<double>& values, const std::uint16_t* leaf_of_row,
                     double* raw, std::size_t rows) const {
    team_->run(block_count(rows), [&](std::size_t index, int) {
        Range range = block_range(rows, index);
        for (std::size_t row = range.begin; row < range.end; ++row)
            raw[row] += values[leaf_of_row[row]];
    });
}

}  // namespace bosquet
