#include "trees/predict.hpp"

#include <algorithm>
#include <memory>

#include "base/buffer.hpp"
#include "parallel/team.hpp"
#include "trees/blocks.hpp"
#include "trees/compile.hpp"
#include "trees/kernels.hpp"
#include "trees/walk.hpp"

namespace bosquet {

namespace {

// Fewer rows than this are predicted one by one, with several trees side by side.
constexpr std::size_t kRowsForBlocks = 16;
// From this many rows on the compiled form is used if it exists.
constexpr std::size_t kRowsToUseCompiled = 32;
// Compiling a tree takes as long as walking about a thousand rows down it. A model is compiled
// after that many rows have been walked, or for a single call with twice as many rows. For a large
// tree the number of rows is its number of nodes.
constexpr std::size_t kRowsToCompile = 1000;
// Coding one value takes about four times as long as a compiled tree saves per row. With fewer
// trees than a fourth of the features they read, coding is not worthwhile.
constexpr std::size_t kFeaturesPerTree = 4;
// Starting threads takes about as long as this many rows times trees.
constexpr std::size_t kStepsForThreads = 100'000;

std::size_t node_count(const Ensemble& ensemble, std::size_t first, std::size_t last) {
    std::size_t nodes = 0;
    for (std::size_t t = first; t < last; ++t) nodes += ensemble.trees[t].nodes.size();
    return nodes;
}

std::shared_ptr<const CompiledEnsemble> get_compiled(const Ensemble& ensemble, std::size_t first,
                                                     std::size_t last, std::size_t rows) {
    std::size_t trees = ensemble.trees.size();
    if (rows < kRowsToUseCompiled || first == last) return nullptr;
    if (auto compiled = ensemble.compiled.get()) return compiled;
    std::size_t rows_to_compile =
        std::max(kRowsToCompile, node_count(ensemble, first, last) / (last - first));
    if (2 * (last - first) >= trees) {
        if (ensemble.compiled.count_walked(rows) < rows_to_compile) return nullptr;
        return ensemble.compiled.get_or_make(
            [&] { return std::make_shared<const CompiledEnsemble>(ensemble, 0, trees); });
    }
    if (rows < 2 * rows_to_compile) return nullptr;
    return std::make_shared<const CompiledEnsemble>(ensemble, first, last);
}

// Trees [first, last) that are evaluated in the same way: on the codes of a group, or all walked.
struct TreeRange {
    std::size_t first, last;
    const TreeGroup* group;  // nullptr: all trees are walked

    // nullptr if the tree is walked on values.
    const CompiledTree* compiled(std::size_t tree) const {
        if (group == nullptr) return nullptr;
        const CompiledTree& compiled = group->trees[tree - group->first];
        return compiled.form == TreeForm::walked ? nullptr : &compiled;
    }
};

std::vector<TreeRange> ranges_of(const CompiledEnsemble* compiled, std::size_t first,
                                 std::size_t last) {
    if (compiled == nullptr) return {{first, last, nullptr}};
    std::vector<TreeRange> ranges;
    for (const TreeGroup& group : compiled->groups()) {
        std::size_t begin = std::max(first, group.first), end = std::min(last, group.last());
        if (begin >= end) continue;
        bool is_worth_coding = (end - begin) * kFeaturesPerTree >= group.features.size();
        ranges.push_back({begin, end, is_worth_coding ? &group : nullptr});
    }
    return ranges;
}

// The features that the walked trees read; all features if finding out takes longer than reading
// them for `rows` rows.
std::vector<std::uint32_t> find_walked_features(const Ensemble& ensemble,
                                                const std::vector<TreeRange>& ranges,
                                                std::size_t rows) {
    std::vector<const Tree*> walked;
    std::size_t nodes = 0;
    for (const TreeRange& range : ranges)
        for (std::size_t t = range.first; t < range.last; ++t)
            if (range.compiled(t) == nullptr) {
                walked.push_back(&ensemble.trees[t]);
                nodes += walked.back()->nodes.size();
            }
    bool all = nodes > rows * ensemble.features;
    std::vector<bool> used(ensemble.features, all);
    for (const Tree* tree : walked)
        for (const Node& node : tree->nodes) {
            if (all) break;
            if (!node.is_leaf()) used[node.feature()] = true;
        }
    std::vector<std::uint32_t> features;
    for (std::uint32_t f = 0; f < used.size(); ++f)
        if (used[f]) features.push_back(f);
    return features;
}

// Writes rows in the format of put_walked. Only the given features are set.
void fill_rows(const Table& table, const std::vector<std::uint32_t>& features, Range rows,
               std::size_t stride, double* out) {
    double column[kLineRows];
    for (std::size_t begin = rows.begin; begin < rows.end; begin += kLineRows) {
        std::size_t count = std::min(kLineRows, rows.end - begin);
        double* to = out + (begin - rows.begin) * stride;
        for (std::uint32_t f : features) {
            read_column(table.columns[f], begin, count, column);
            for (std::size_t i = 0; i < count; ++i) put_walked(to + i * stride, f, column[i]);
        }
    }
}

void predict_row_by_row(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
                        double* out) {
    auto row = std::make_unique<double[]>(walked_size(ensemble.features));
    for (std::size_t i = 0; i < table.rows; ++i, out += ensemble.outputs) {
        for (std::size_t f = 0; f < ensemble.features; ++f)
            put_walked(row.get(), f, read_value(table.columns[f], i));
        for (std::size_t k = 0; k < ensemble.outputs; ++k)
            out[k] = options.first == 0 ? ensemble.base[k] : 0.0;
        add_trees(ensemble, row.get(), options.first, options.last, out);
    }
}

// The buffers of one thread.
struct Workspace {
    Buffer<double> sums;     // [output][row of the block]
    Buffer<double> scratch;  // a column of the block
    Buffer<double> rows;     // in the format of put_walked
    Buffer<std::uint32_t> leaves;
    Buffer<std::uint8_t> codes;        // codes of one feature
    Buffer<std::uint16_t> wide_codes;  // [wide column][row of the block]
    Buffer<std::uint8_t> lines;        // [128 rows of the block][line]
    Buffer<std::uint8_t> picks;
};

// One call of predict, which is done block by block.
class Prediction {
  public:
    Prediction(const Ensemble& ensemble, const Table& table, const PredictOptions& options)
        : ensemble_(&ensemble),
          table_(&table),
          options_(&options),
          bin_kernels_(&select_bin_kernels(options.isa)),
          tree_kernels_(&select_tree_kernels(options.isa)),
          compiled_(get_compiled(ensemble, options.first, options.last, table.rows)),
          ranges_(ranges_of(compiled_.get(), options.first, options.last)),
          walked_features_(find_walked_features(ensemble, ranges_, table.rows)),
          row_stride_(walked_size(ensemble.features)) {
        choose_block();
    }

    void run(double* out) const;

  private:
    void choose_block();
    std::size_t walked_bytes() const;
    Workspace make_workspace() const;
    void predict_block(Range rows, Workspace& work, double* out) const;
    void code_columns(const TreeGroup& group, Range rows, Workspace& work) const;
    void map_levels(const CompiledTree& tree, std::size_t chunk, Workspace& work) const;
    void add_lines(const CompiledTree& tree, Range rows, double* sums, Workspace& work) const;
    void walk_below_top(const CompiledTree& tree, std::size_t rows, Workspace& work) const;
    void add_leaves(std::size_t tree, std::size_t rows, Workspace& work) const;

    double* sums_of(std::size_t tree, Workspace& work) const {
        return work.sums.data() + tree % ensemble_->outputs * block_rows_;
    }
    std::uint8_t* lines_of(std::size_t chunk, Workspace& work) const {
        return work.lines.data() + chunk * lines_ * kLineRows;
    }

    const Ensemble* ensemble_;
    const Table* table_;
    const PredictOptions* options_;
    const BinKernels* bin_kernels_;
    const TreeKernels* tree_kernels_;
    std::shared_ptr<const CompiledEnsemble> compiled_;
    std::vector<TreeRange> ranges_;
    std::vector<std::uint32_t> walked_features_;
    std::size_t row_stride_;  // doubles per row in the format of put_walked
    std::size_t block_rows_ = 0;
    std::size_t lines_ = 0;
    std::size_t wide_columns_ = 0;
};

void Prediction::choose_block() {
    for (const TreeRange& range : ranges_)
        if (range.group != nullptr) {
            lines_ = std::max<std::size_t>(lines_, range.group->lines);
            wide_columns_ = std::max<std::size_t>(wide_columns_, range.group->wide_columns);
        }
    std::size_t value_bytes = walked_features_.empty() ? 0 : row_stride_ * sizeof(double);
    block_rows_ = block_rows(table_->rows, options_->threads, walked_bytes() > kDeepBytes,
                             value_bytes, lines_);
}

// The size of the trees whose nodes are walked, on values or on codes.
std::size_t Prediction::walked_bytes() const {
    std::size_t bytes = 0;
    for (const TreeRange& range : ranges_)
        for (std::size_t t = range.first; t < range.last; ++t) {
            const CompiledTree* compiled = range.compiled(t);
            if (compiled == nullptr || compiled->form == TreeForm::coded)
                bytes += ensemble_->trees[t].nodes.size() * sizeof(Node);
        }
    return bytes;
}

Workspace Prediction::make_workspace() const {
    Workspace work;
    work.sums = Buffer<double>(block_rows_ * ensemble_->outputs);
    work.scratch = Buffer<double>(block_rows_);
    work.leaves = Buffer<std::uint32_t>(block_rows_);
    // Trees without splits read one entry of the row as well, but do not use its value.
    work.rows = Buffer<double>(walked_features_.empty() ? 1 : block_rows_ * row_stride_);
    work.rows[0] = 0;
    if (compiled_ == nullptr) return work;
    work.codes = Buffer<std::uint8_t>(block_rows_);
    work.wide_codes = Buffer<std::uint16_t>(block_rows_ * wide_columns_);
    work.lines = Buffer<std::uint8_t>(block_rows_ * lines_);
    // Rows after the last row of the table are computed with the others and discarded; their codes
    // have to be in range.
    std::fill(work.codes.begin(), work.codes.end(), std::uint8_t{0});
    std::fill(work.wide_codes.begin(), work.wide_codes.end(), std::uint16_t{0});
    work.picks = Buffer<std::uint8_t>(kPickLines * kLineRows);
    for (std::size_t leaf = 0; leaf < kMaxByteLeaves; ++leaf)
        std::fill_n(work.picks.data() + leaf * kLineRows, kLineRows,
                    static_cast<std::uint8_t>(leaf));
    return work;
}

void Prediction::run(double* out) const {
    std::size_t blocks = (table_->rows + block_rows_ - 1) / block_rows_;
    bool share = table_->rows * (options_->last - options_->first) >= kStepsForThreads;
    Team team(share ? static_cast<int>(std::min<std::size_t>(options_->threads, blocks)) : 1);
    std::vector<Workspace> work(team.size());
    team.run(blocks, [&](std::size_t index, int worker) {
        if (work[worker].sums.size() == 0) work[worker] = make_workspace();
        std::size_t begin = index * block_rows_;
        predict_block({begin, std::min(table_->rows, begin + block_rows_)}, work[worker], out);
    });
}

void Prediction::predict_block(Range rows, Workspace& work, double* out) const {
    std::size_t outputs = ensemble_->outputs;
    for (std::size_t k = 0; k < outputs; ++k)
        std::fill_n(sums_of(k, work), block_rows_, options_->first == 0 ? ensemble_->base[k] : 0.0);
    fill_rows(*table_, walked_features_, rows, row_stride_, work.rows.data());
    for (const TreeRange& range : ranges_) {
        if (range.group != nullptr) code_columns(*range.group, rows, work);
        for (std::size_t t = range.first; t < range.last; ++t) {
            const CompiledTree* compiled = range.compiled(t);
            if (compiled != nullptr && compiled->form == TreeForm::lines) {
                add_lines(*compiled, rows, sums_of(t, work), work);
                continue;
            }
            if (compiled != nullptr)
                walk_below_top(*compiled, rows.size(), work);
            else
                leaves_of_rows(*ensemble_, ensemble_->trees[t], work.rows.data(),
                               walked_features_.empty() ? 0 : row_stride_, rows.size(),
                               work.leaves.data());
            add_leaves(t, rows.size(), work);
        }
    }
    for (std::size_t k = 0; k < outputs; ++k) {
        const double* sums = sums_of(k, work);
        for (std::size_t i = 0; i < rows.size(); ++i) out[(rows.begin + i) * outputs + k] = sums[i];
    }
}

void Prediction::code_columns(const TreeGroup& group, Range rows, Workspace& work) const {
    for (const CodedFeature& feature : group.features) {
        const Column& column = table_->columns[feature.feature];
        if (feature.wide_column != kNoLine) {
            feature.binner->bin(column, rows.begin, rows.size(), *bin_kernels_, work.scratch.data(),
                                nullptr,
                                work.wide_codes.data() + feature.wide_column * block_rows_);
            continue;
        }
        feature.binner->bin(column, rows.begin, rows.size(), *bin_kernels_, work.scratch.data(),
                            work.codes.data(), nullptr);
        for (std::size_t chunk = 0; chunk < line_chunk_count(rows.size()); ++chunk) {
            const std::uint8_t* codes = work.codes.data() + chunk * kLineRows;
            std::uint8_t* lines = lines_of(chunk, work);
            if (feature.codes_line != kNoLine)
                std::copy_n(codes, kLineRows, lines + feature.codes_line);
            if (feature.missing_left_line != kNoLine)
                tree_kernels_->place_missing_left(codes, lines + feature.missing_left_line);
            if (feature.missing_right_line != kNoLine)
                tree_kernels_->place_missing_right(codes, lines + feature.missing_right_line);
        }
    }
}

void Prediction::map_levels(const CompiledTree& tree, std::size_t chunk, Workspace& work) const {
    for (const CategoryClasses& classes : tree.classes) {
        const std::uint16_t* codes =
            work.wide_codes.data() + classes.wide_column * block_rows_ + chunk * kLineRows;
        std::uint8_t* line = lines_of(chunk, work) + classes.line;
        std::size_t last = classes.class_of.size() - 1;
        for (std::size_t i = 0; i < kLineRows; ++i)
            line[i] = classes.class_of[std::min<std::size_t>(codes[i], last)];
    }
}

void Prediction::add_lines(const CompiledTree& tree, Range rows, double* sums,
                           Workspace& work) const {
    ByteTree view = tree.view();
    for (std::size_t chunk = 0; chunk < line_chunk_count(rows.size()); ++chunk) {
        map_levels(tree, chunk, work);
        tree_kernels_->add_tree(view, lines_of(chunk, work), work.picks.data(),
                                sums + chunk * kLineRows);
    }
}

void Prediction::walk_below_top(const CompiledTree& tree, std::size_t rows, Workspace& work) const {
    ByteTree top = tree.view();
    for (std::size_t chunk = 0; chunk < line_chunk_count(rows); ++chunk) {
        const std::uint8_t* starts =
            tree_kernels_->pick_leaves(top, lines_of(chunk, work), work.picks.data());
        leaves_of_lines(tree.nodes.data(), tree.roots.data(), starts, lines_of(chunk, work),
                        work.leaves.data() + chunk * kLineRows);
    }
}

void Prediction::add_leaves(std::size_t t, std::size_t rows, Workspace& work) const {
    const Tree& tree = ensemble_->trees[t];
    if (!ensemble_->vector_leaves) {
        double* sums = sums_of(t, work);
        for (std::size_t i = 0; i < rows; ++i) sums[i] += tree.nodes[work.leaves[i]].leaf_value();
        return;
    }
    for (std::size_t i = 0; i < rows; ++i)
        work.leaves[i] = static_cast<std::uint32_t>(tree.nodes[work.leaves[i]].vector_index());
    std::size_t outputs = ensemble_->outputs;
    for (std::size_t k = 0; k < outputs; ++k) {
        double* sums = sums_of(k, work);
        const double* values = tree.leaf_values.data() + k;
        for (std::size_t i = 0; i < rows; ++i) sums[i] += values[work.leaves[i] * outputs];
    }
}

}  // namespace

void predict(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
             double* out) {
    if (table.rows < kRowsForBlocks)
        predict_row_by_row(ensemble, table, options, out);
    else
        Prediction(ensemble, table, options).run(out);
}

void apply(const Ensemble& ensemble, const Table& table, const PredictOptions& options,
           std::int32_t* out) {
    std::size_t trees = options.last - options.first;
    std::vector<std::uint32_t> features =
        find_walked_features(ensemble, {{options.first, options.last, nullptr}}, table.rows);
    std::size_t stride = walked_size(ensemble.features);
    int threads = table.rows * trees >= kStepsForThreads ? options.threads : 1;
    bool deep = node_count(ensemble, options.first, options.last) * sizeof(Node) > kDeepBytes;
    std::size_t block =
        deep ? block_rows(table.rows, threads, true, stride * sizeof(double), 0) : kLineRows;
    Team team(threads);
    std::vector<Buffer<double>> rows(team.size());
    team.run((table.rows + block - 1) / block, [&](std::size_t index, int worker) {
        if (rows[worker].size() == 0) rows[worker] = Buffer<double>(block * stride);
        Range range{index * block, std::min(table.rows, (index + 1) * block)};
        fill_rows(table, features, range, stride, rows[worker].data());
        std::uint32_t leaves[kLineRows];
        for (std::size_t t = 0; t < trees; ++t)
            for (std::size_t begin = range.begin; begin < range.end; begin += kLineRows) {
                std::size_t count = std::min(kLineRows, range.end - begin);
                leaves_of_rows(ensemble, ensemble.trees[options.first + t],
                               rows[worker].data() + (begin - range.begin) * stride, stride, count,
                               leaves);
                for (std::size_t i = 0; i < count; ++i)
                    out[(begin + i) * trees + t] = static_cast<std::int32_t>(leaves[i]);
            }
    });
}

}  // namespace bosquet
