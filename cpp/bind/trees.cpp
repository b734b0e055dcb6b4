#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "io/model_file.hpp"
#include "losses/loss.hpp"
#include "trees/predict.hpp"
#include "trees/tree.hpp"
#include "trees/validate.hpp"
#include "trees/walk.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Doubles = nb::ndarray<nb::numpy, double>;
using RowArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

void make_ensemble(Ensemble* self, std::uint32_t features, std::uint32_t outputs,
                   std::vector<double> base, std::vector<std::uint32_t> categories,
                   bool vector_leaves) {
    if (features > Node::kMaxFeature)
        throw InputError("n_features=" + std::to_string(features) + " is too large; at most " +
                         std::to_string(Node::kMaxFeature) + " features are supported");
    if (outputs == 0) throw InputError("n_outputs=0 is too small; a model has at least one output");
    check_at_most(outputs, kMaxOutputs, "outputs");
    check_length(base.size(), outputs, "base", "output");
    if (!categories.empty() && categories.size() != features)
        throw InputError("categories has " + std::to_string(categories.size()) +
                         " entries, but must be empty or have one entry per feature (" +
                         std::to_string(features) + ")");
    for (std::uint32_t levels : categories)
        check_at_most(levels, kMaxCategories, "categories of a feature");
    categories.resize(features);
    new (self)
        Ensemble{features, outputs, std::move(base), std::move(categories), {}, vector_leaves, {}};
}

PredictOptions options_for(const Ensemble& ensemble, std::size_t first, std::size_t last,
                           int threads, const std::string& isa) {
    if (first > last || last > ensemble.trees.size())
        throw InputError("trees [" + std::to_string(first) + ", " + std::to_string(last) +
                         ") are out of range; the model has " +
                         std::to_string(ensemble.trees.size()) + " trees");
    return {first, last, std::max(1, threads), parse_isa(isa)};
}

Doubles predict_table(const Ensemble& ensemble, const Table& table, const PredictOptions& options) {
    check_columns(ensemble, table.columns.size());
    double* out;
    Doubles result = new_array<double>({table.rows, ensemble.outputs}, &out);
    LongCall call;
    predict(ensemble, table, options, out);
    return result;
}

Doubles predict_raw(const Ensemble& self, nb::object data, std::size_t first, std::size_t last,
                    int threads, const std::string& isa) {
    return predict_table(self, table_of(data), options_for(self, first, last, threads, isa));
}

nb::ndarray<nb::numpy, std::int32_t> apply_trees(const Ensemble& self, nb::object data,
                                                 int threads) {
    PredictOptions options = options_for(self, 0, self.trees.size(), threads, "auto");
    OwnedTable table = table_of(data);
    check_columns(self, table.columns.size());
    std::int32_t* out;
    auto result = new_array<std::int32_t>({table.rows, self.trees.size()}, &out);
    LongCall call;
    apply(self, table, options, out);
    return result;
}

template <class Value>
void predict_one(const Ensemble& ensemble, const Value* values, double* out) {
    constexpr std::size_t kOnStack = 1025;
    double on_stack[kOnStack];
    std::unique_ptr<double[]> on_heap;
    double* row = on_stack;
    std::size_t size = walked_size(ensemble.features);
    if (size > kOnStack) {
        on_heap = std::make_unique_for_overwrite<double[]>(size);
        row = on_heap.get();
    }
    row[0] = 0;  // a leaf reads it even if there are no features
    for (std::size_t f = 0; f < ensemble.features; ++f) put_walked(row, f, values[f]);
    std::copy(ensemble.base.begin(), ensemble.base.end(), out);
    add_trees(ensemble, row, 0, ensemble.trees.size(), out);
}

// From this many rows on, predicting in blocks of rows is faster.
constexpr std::size_t kRowsForBlocks = 16;

// Predictions for a table that is read in blocks.
Doubles predict_many(const Ensemble& self, const Table& table, const Loss* loss) {
    Doubles raw = predict_table(self, table, options_for(self, 0, self.trees.size(), 1, "auto"));
    if (loss == nullptr) return raw;
    double* out;
    Doubles result = new_array<double>({table.rows, loss->response_size()}, &out);
    loss->responses(raw.data(), table.rows, best_isa(), out);
    return result;
}

Doubles predict_rows(const Ensemble& self, const RowArray& values, const Loss* loss) {
    std::size_t dimensions = values.ndim();
    if (dimensions != 1 && dimensions != 2)
        throw InputError("values has " + std::to_string(dimensions) +
                         " dimensions; pass one row (1-d) or a matrix (2-d)");
    check_columns(self, values.shape(dimensions - 1));
    if (loss != nullptr && loss->outputs() != self.outputs)
        throw InputError("the loss has " + std::to_string(loss->outputs()) +
                         " outputs, but the model has " + std::to_string(self.outputs));
    bool narrow = values.dtype() == nb::dtype<float>();
    if (!narrow && values.dtype() != nb::dtype<double>())
        throw InputError("values has an unsupported dtype; pass float32 or float64");
    std::size_t rows = dimensions == 1 ? 1 : values.shape(0);
    auto row_bytes = static_cast<std::ptrdiff_t>(values.itemsize() * self.features);
    if (rows >= kRowsForBlocks) {
        Table table{rows, std::vector<Column>(self.features)};
        for (std::size_t f = 0; f < self.features; ++f)
            table.columns[f] = {
                static_cast<const std::byte*>(values.data()) + f * values.itemsize(), row_bytes,
                narrow ? ColumnType::f32 : ColumnType::f64};
        return predict_many(self, table, loss);
    }
    std::size_t columns = loss != nullptr ? loss->response_size() : self.outputs;
    double* out;
    Doubles result = new_array<double>({rows, columns}, &out);
    std::vector<double> raw(self.outputs);
    for (std::size_t i = 0; i < rows; ++i, out += columns) {
        double* sums = loss != nullptr ? raw.data() : out;
        if (narrow)
            predict_one(self, static_cast<const float*>(values.data()) + i * self.features, sums);
        else
            predict_one(self, static_cast<const double*>(values.data()) + i * self.features, sums);
        if (loss != nullptr) loss->responses(sums, 1, best_isa(), out);
    }
    return result;
}

// The simplest implementation, which the tests compare the others with.
Doubles predict_plain(const Ensemble& self, nb::object data) {
    OwnedTable table = table_of(data);
    check_columns(self, table.columns.size());
    double* out;
    Doubles result = new_array<double>({table.rows, self.outputs}, &out);
    std::vector<double> row(self.features);
    for (std::size_t i = 0; i < table.rows; ++i, out += self.outputs) {
        for (std::size_t f = 0; f < self.features; ++f) row[f] = read_value(table.columns[f], i);
        std::copy(self.base.begin(), self.base.end(), out);
        for (std::size_t t = 0; t < self.trees.size(); ++t) {
            const Tree& tree = self.trees[t];
            const Node& leaf = tree.nodes[leaf_of(self, tree, row.data())];
            double* sum = self.vector_leaves ? out : out + t % self.outputs;
            for (double value : self.values_of(tree, leaf)) *sum++ += value;
        }
    }
    return result;
}

template <class T, class Get>
nb::object by_node(const Tree& tree, Get get) {
    T* out;
    auto array = new_array<T>({tree.nodes.size()}, &out);
    for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index)
        out[node_index] = get(node_index);
    return nb::cast(array);
}

nb::list category_sets(const Tree& tree) {
    nb::list sets;
    for (const Node& node : tree.nodes) {
        if (node.is_leaf() || !node.categorical()) {
            sets.append(nb::none());
            continue;
        }
        nb::list codes;
        for (std::uint32_t code = 0; code < node.set_words() * 32; ++code)
            if (tree.in_left_set(node, code)) codes.append(code);
        sets.append(codes);
    }
    return sets;
}

// The values of the leaves, NaN for inner nodes: one row per node with vector leaves, else one
// number.
nb::object leaf_values(const Ensemble& ensemble, const Tree& tree) {
    std::vector<std::size_t> shape{tree.nodes.size()};
    if (ensemble.vector_leaves) shape.push_back(ensemble.outputs);
    std::size_t width = ensemble.vector_leaves ? ensemble.outputs : 1;
    double* out;
    auto array = new_array<double>(shape, &out);
    std::fill_n(out, tree.nodes.size() * width, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index, out += width)
        if (tree.nodes[node_index].is_leaf()) {
            std::span<const double> values = ensemble.values_of(tree, tree.nodes[node_index]);
            std::copy(values.begin(), values.end(), out);
        }
    return nb::cast(array);
}

nb::dict tree_arrays(const Ensemble& self, std::size_t index) {
    if (index >= self.trees.size())
        throw InputError("tree " + std::to_string(index) + " is out of range; the model has " +
                         std::to_string(self.trees.size()) + " trees");
    const Tree& tree = self.trees[index];
    auto node = [&](std::size_t node_index) -> const Node& { return tree.nodes[node_index]; };
    auto child = [&](std::size_t node_index, std::uint32_t side) {
        return node(node_index).is_leaf() ? -1
                                          : static_cast<std::int32_t>(node(node_index).left + side);
    };
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    nb::dict out;
    out["feature"] = by_node<std::int32_t>(tree, [&](std::size_t node_index) {
        return node(node_index).is_leaf() ? -1
                                          : static_cast<std::int32_t>(node(node_index).feature());
    });
    out["threshold"] = by_node<double>(tree, [&](std::size_t node_index) {
        return node(node_index).is_leaf() || node(node_index).categorical()
                   ? kNone
                   : node(node_index).threshold();
    });
    out["left"] =
        by_node<std::int32_t>(tree, [&](std::size_t node_index) { return child(node_index, 0); });
    out["right"] =
        by_node<std::int32_t>(tree, [&](std::size_t node_index) { return child(node_index, 1); });
    out["missing_left"] = by_node<bool>(
        tree, [&](std::size_t node_index) { return node(node_index).missing_left(); });
    out["is_categorical"] =
        by_node<bool>(tree, [&](std::size_t node_index) { return node(node_index).categorical(); });
    out["left_categories"] = category_sets(tree);
    out["value"] = leaf_values(self, tree);
    out["gain"] =
        by_node<float>(tree, [&](std::size_t node_index) { return tree.stats[node_index].gain; });
    out["cover"] =
        by_node<float>(tree, [&](std::size_t node_index) { return tree.stats[node_index].cover; });
    return out;
}

Doubles importance(const Ensemble& self, const std::string& kind) {
    if (kind != "gain" && kind != "split")
        throw InputError("kind='" + kind + "' is unknown; pass 'gain' or 'split'");
    std::vector<double> sums(self.features);
    for (const Tree& tree : self.trees)
        for (std::size_t node_index = 0; node_index < tree.nodes.size(); ++node_index)
            if (!tree.nodes[node_index].is_leaf())
                sums[tree.nodes[node_index].feature()] +=
                    kind == "gain" ? tree.stats[node_index].gain : 1;
    return to_array(sums);
}

void truncate_trees(Ensemble& self, std::size_t trees) {
    if (trees > self.trees.size() || trees % self.trees_per_round() != 0)
        throw InputError(
            "n_trees=" + std::to_string(trees) + " must be at most the number of trees (" +
            std::to_string(self.trees.size()) + ") and a multiple of the trees per round (" +
            std::to_string(self.trees_per_round()) + ")");
    self.trees.resize(trees);
    self.compiled.reset();
}

}  // namespace

void bind_trees(nb::module_& module) {
    nb::class_<Ensemble>(module, "Ensemble",
                         "Trees and the base value to which their predictions are added.")
        .def("__init__", make_ensemble, nb::arg("n_features"), nb::arg("n_outputs"),
             nb::arg("base"), nb::arg("categories"), nb::arg("vector_leaves") = false)
        .def_prop_ro("n_trees", [](const Ensemble& self) { return self.trees.size(); })
        .def_prop_ro("n_outputs", [](const Ensemble& self) { return self.outputs; })
        .def_prop_ro("n_features", [](const Ensemble& self) { return self.features; })
        .def_prop_ro(
            "n_rounds",
            [](const Ensemble& self) { return self.trees.size() / self.trees_per_round(); },
            "Number of boosting rounds: each round has one tree per output, or a single tree with "
            "vector leaves.")
        .def_prop_ro(
            "vector_leaves", [](const Ensemble& self) { return self.vector_leaves; },
            "Whether every leaf holds one value per output.")
        .def_prop_ro(
            "n_compilations", [](const Ensemble& self) { return self.compiled.made(); },
            "How often the trees were compiled to the form that predicts many rows fast.")
        .def_prop_ro(
            "base", [](const Ensemble& self) { return to_array(self.base); }, nb::rv_policy::move)
        .def_prop_ro(
            "categories", [](const Ensemble& self) { return to_array(self.categories); },
            nb::rv_policy::move)
        .def("predict_raw", predict_raw, nb::arg("data"), nb::arg("first"), nb::arg("last"),
             nb::arg("threads") = 1, nb::arg("isa") = "auto",
             "Return the sums of trees [first, last), shape (n_rows, n_outputs). If first == 0, "
             "the base is added.")
        .def("predict_rows", predict_rows, nb::arg("values"), nb::arg("loss").none() = nb::none(),
             "Return raw predictions of one row (n_features,) or few rows (n_rows, n_features) "
             "with the least latency, shape (n_rows, n_outputs). With a loss, return its responses "
             "instead.")
        .def("predict_plain", predict_plain, nb::arg("data"),
             "Return raw predictions from the simplest implementation, which is slow.")
        .def("apply", apply_trees, nb::arg("data"), nb::arg("threads") = 1,
             "Return the node number of the leaf of each row, shape (n_rows, n_trees).")
        .def("tree_arrays", tree_arrays, nb::arg("tree"),
             "Return a tree as a dict of arrays with one entry per node; the children of a leaf "
             "are -1. With vector leaves 'value' has shape (n_nodes, n_outputs).")
        .def("importance", importance, nb::arg("kind"),
             "Return for each feature the sum of the gains of its splits ('gain') or their number "
             "('split').")
        .def(
            "holds_class_shares",
            [](const Ensemble& self, const std::vector<std::uint32_t>& classes) {
                return holds_class_shares(self, classes);
            },
            nb::arg("classes"),
            "Return whether every leaf holds class shares; `classes` is the number of classes per "
            "target.")
        .def(
            "max_absolute_prediction",
            [](const Ensemble& self) { return to_array(max_absolute_prediction(self)); },
            "Return for each output an upper bound of the absolute raw prediction.")
        .def("truncate", truncate_trees, nb::arg("n_trees"), "Keep only the first n_trees trees.")
        .def(
            "copy", [](const Ensemble& self) { return Ensemble(self); },
            "Return an independent copy.")
        // A pickle holds the bytes of a model file, so that loading it checks them.
        .def("__getstate__",
             [](const Ensemble& self) {
                 std::vector<std::uint8_t> file = write_model(self, {});
                 return nb::bytes(reinterpret_cast<const char*>(file.data()), file.size());
             })
        .def(
            "__setstate__",
            [](Ensemble& self, const nb::bytes& file) {
                new (&self) Ensemble(read_model(bytes_of(file)).ensemble);
            },
            nb::arg("state"));
}
