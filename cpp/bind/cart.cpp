#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/options.hpp"
#include "cart/codes.hpp"
#include "cart/grower.hpp"
#include "cart/surrogates.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using ClassArray = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ClassMatrix = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Criterion criterion_named(const std::string& name) {
    if (name == "gini") return Criterion::gini;
    if (name == "entropy") return Criterion::entropy;
    if (name == "squared_error") return Criterion::squared;
    if (name == "absolute_error") return Criterion::absolute;
    if (name == "poisson") return Criterion::poisson;
    throw InputError(
        "criterion='" + name +
        "' is unknown; pass 'gini', 'entropy', 'squared_error', 'absolute_error' or 'poisson'");
}

CartOptions options_of(const nb::dict& given) {
    Options options(given);
    CartOptions cart;
    std::string criterion = "gini";
    options.take("criterion", criterion);
    cart.criterion = criterion_named(criterion);
    options.take("min_samples_split", cart.min_samples_split);
    options.take("min_samples_leaf", cart.min_samples_leaf);
    options.take("min_weight_leaf", cart.min_weight_leaf, 0, kLargest);
    options.take("max_depth", cart.max_depth);
    options.take("max_leaf_nodes", cart.max_leaf_nodes);
    options.take("min_impurity_decrease", cart.min_impurity_decrease, -kLargest, kLargest);
    options.take("features_per_node", cart.features_per_node);
    options.take("random_thresholds", cart.random_thresholds);
    options.take("monotone", cart.monotone);
    options.take("competitors", cart.competitors);
    options.take("surrogates", cart.surrogates);
    options.reject_unknown();
    return cart;
}

// Everything that growing trees on one table needs. Targets and weights are copied: if the caller
// changed a class number after the check, it could index outside the sums over classes.
class CartFit {
  public:
    CartFit(std::shared_ptr<CodedTable> table, nb::object target, std::uint32_t outputs,
            DoubleArray weights, nb::dict options, int threads,
            std::vector<std::uint32_t> class_counts)
        : table_(std::move(table)),
          class_counts_(std::move(class_counts)),
          weights_(weights.data(), weights.data() + weights.shape(0)),
          options_(options_of(options)),
          team_(threads) {
        if (outputs == 0)
            throw InputError("outputs=0 is too small; a target has at least one output");
        check_at_most(outputs, kMaxOutputs, "outputs");
        target_.outputs = outputs;
        std::size_t rows = take_target(target);
        if (table_->rows == 0)
            throw InputError("the table has no rows; at least one row is needed");
        check_length(rows, table_->rows, "targets");
        check_weights(weights_, rows);
        check_products();
        if (!options_.monotone.empty())
            check_length(options_.monotone.size(), table_->columns.size(), "monotone", "feature");
        growers_.resize(team_.size());
    }

    // Grows one tree per key, each on a bag of its own.
    void grow(Ensemble& ensemble, const std::vector<std::uint64_t>& keys, std::size_t draws,
              bool replace, bool balanced) {
        check(ensemble);
        check_between(static_cast<double>(draws), 1, static_cast<double>(table_->rows), "draws");
        InUse guard(in_use_, kName);
        LongCall call;
        std::vector<Tree> trees(keys.size());
        team_.run(keys.size(), [&](std::size_t i, int worker) {
            Bag bag = draw_bag(table_->rows, draws, replace, weights_, keys[i]);
            if (balanced) balance(bag);
            if (bag.rows.empty())
                throw InputError(
                    "a bag holds no row with positive weight; give more rows a positive weight");
            trees[i] = grower(worker).grow(bag, keys[i], false, nullptr).tree;
        });
        for (Tree& tree : trees) ensemble.add(std::move(tree));
    }

    // Grows one tree on all rows with positive weight, with the statistics of its nodes.
    std::shared_ptr<CartTree> grow_one(std::uint64_t key) {
        InUse guard(in_use_, kName);
        LongCall call;
        Bag bag = draw_bag(table_->rows, table_->rows, false, weights_, key);
        if (bag.rows.empty())
            throw InputError("no row has a positive weight; at least one weight must be > 0");
        if (!shared_grower_)
            shared_grower_ = make_cart_grower(*table_, target_, options_, team_.size());
        return std::make_shared<CartTree>(shared_grower_->grow(bag, key, true, &team_));
    }

  private:
    static constexpr const char* kName = "the fit";

    // Checks and copies the target. Returns its number of rows.
    std::size_t take_target(nb::object target) {
        if (!class_counts_.empty())
            return take_several_classes(
                cast_to<ClassMatrix>(target, "the target", "a matrix of class numbers (uint32)"));
        if (nb::isinstance<ClassArray>(target)) {
            take_classes(nb::cast<ClassArray>(target));
            for (std::uint32_t which : classes_)
                if (which >= target_.outputs)
                    throw InputError("class number " + std::to_string(which) +
                                     " is out of range; it must be below the number of classes (" +
                                     std::to_string(target_.outputs) + ")");
            return classes_.size();
        }
        auto numbers = cast_to<DoubleMatrix>(
            target, "the target", "an array of class numbers (uint32) or a matrix of doubles");
        if (numbers.shape(0) != target_.outputs)
            throw InputError("target has shape " + shape_text(numbers) +
                             ", but must have shape (n_outputs, n_rows) with n_outputs=" +
                             std::to_string(target_.outputs));
        numbers_.assign(numbers.data(), numbers.data() + numbers.size());
        check_finite(numbers_, "targets");
        target_.numbers = numbers_;
        return numbers.shape(1);
    }

    // Sums of weights times targets over a bag must be finite, whether the targets are centred or
    // not.
    void check_products() const {
        double weight = 1, number = 1;
        for (double w : weights_) weight = std::max(weight, w);
        for (double y : numbers_) number = std::max(number, std::abs(y));
        if (!std::isfinite(2 * number * weight * static_cast<double>(table_->rows)))
            throw InputError(
                "the sum of weights times targets overflows; rescale the targets or the weights");
    }

    template <class Array>
    void take_classes(const Array& classes) {
        classes_.assign(classes.data(), classes.data() + classes.size());
        target_.classes = classes_;
    }

    std::size_t take_several_classes(const ClassMatrix& codes) {
        take_classes(codes);
        if (codes.shape(0) != class_counts_.size())
            throw InputError("target has " + std::to_string(codes.shape(0)) +
                             " rows of class numbers, but class_counts has " +
                             std::to_string(class_counts_.size()) +
                             " entries; pass one row per target");
        std::size_t first = 0, rows = codes.shape(1);
        for (std::size_t t = 0; t < class_counts_.size(); ++t) {
            for (std::size_t i = 0; i < rows; ++i) {
                std::uint32_t code = classes_[t * rows + i];
                if (code < first || code >= first + class_counts_[t])
                    throw InputError("class number " + std::to_string(code) + " of target " +
                                     std::to_string(t) + " is out of range; it must lie in [" +
                                     std::to_string(first) + ", " +
                                     std::to_string(first + class_counts_[t]) + ")");
            }
            first += class_counts_[t];
        }
        if (first != target_.outputs)
            throw InputError("class_counts sums to " + std::to_string(first) + ", but outputs is " +
                             std::to_string(target_.outputs));
        target_.class_counts = class_counts_;
        return rows;
    }

    void check(const Ensemble& ensemble) const {
        bool vectors = target_.outputs > (target_.is_classes() ? 2u : 1u) || !class_counts_.empty();
        std::uint32_t outputs = vectors ? target_.outputs : 1;
        if (ensemble.features != table_->columns.size() || ensemble.outputs != outputs ||
            ensemble.vector_leaves != vectors)
            throw InputError("the ensemble does not match the table and the target: it must have " +
                             std::to_string(table_->columns.size()) + " features, " +
                             std::to_string(outputs) +
                             " outputs and vector_leaves=" + (vectors ? "True" : "False"));
        for (std::size_t f = 0; f < table_->columns.size(); ++f)
            if (ensemble.categories[f] != table_->columns[f].categories())
                throw InputError("feature " + std::to_string(f) + " has " +
                                 std::to_string(table_->columns[f].categories()) +
                                 " categories in the table, but " +
                                 std::to_string(ensemble.categories[f]) + " in the ensemble");
    }

    CartGrower& grower(int worker) {
        if (!growers_[worker]) growers_[worker] = make_cart_grower(*table_, target_, options_, 1);
        return *growers_[worker];
    }

    // Rescales the weights of a bag so that all classes have the same total weight.
    void balance(Bag& bag) const {
        if (!target_.is_classes() || !class_counts_.empty())
            throw InputError("balanced=True needs a single target of classes");
        std::vector<double> mass(target_.outputs);
        double total = 0;
        for (std::size_t i = 0; i < bag.rows.size(); ++i) {
            mass[target_.classes[bag.rows[i]]] += bag.weights[i];
            total += bag.weights[i];
        }
        for (std::size_t i = 0; i < bag.rows.size(); ++i)
            bag.weights[i] *= total / (target_.outputs * mass[target_.classes[bag.rows[i]]]);
    }

    std::shared_ptr<CodedTable> table_;
    std::vector<std::uint32_t> class_counts_;
    std::vector<std::uint32_t> classes_;
    std::vector<double> numbers_, weights_;
    CartTarget target_;
    CartOptions options_;
    Team team_;
    std::vector<std::unique_ptr<CartGrower>> growers_;  // one per thread
    std::unique_ptr<CartGrower> shared_grower_;
    std::atomic<bool> in_use_ = false;
};

// The competing or surrogate splits of all nodes in flat arrays, from which Python builds
// NodeSplits. A large tree has millions of them; as dicts they would take seconds and gigabytes.
class SplitColumns {
  public:
    SplitColumns(std::size_t nodes, std::size_t splits)
        : counts_(nb::cast(new_array<std::int64_t>({nodes}, &count_))),
          features_(nb::cast(new_array<std::int32_t>({splits}, &feature_))),
          thresholds_(nb::cast(new_array<double>({splits}, &threshold_))) {}

    void begin(std::size_t node, std::size_t splits) { count_[node] = splits; }

    // Returns the index of the split.
    std::size_t add(const CartSplit& split) {
        feature_[size_] = split.feature;
        threshold_[size_] =
            split.categorical ? std::numeric_limits<double>::quiet_NaN() : split.threshold;
        if (split.categorical) {
            nb::list codes;
            for (std::uint32_t code : split.left_codes) codes.append(code - 1);
            left_categories_[nb::int_(size_)] = codes;
        }
        return size_++;
    }

    // The constructor arguments of NodeSplits; `extra_columns` holds further columns.
    nb::tuple arguments(nb::dict extra_columns) const {
        nb::dict columns;
        columns["feature"] = features_;
        columns["threshold"] = thresholds_;
        columns.update(extra_columns);
        return nb::make_tuple(counts_, columns, left_categories_);
    }

  private:
    std::size_t size_ = 0;
    std::int64_t* count_;
    std::int32_t* feature_;
    double* threshold_;
    nb::object counts_, features_, thresholds_;
    nb::dict left_categories_;
};

// Approximate time per node in nanoseconds, for check_interrupt.
constexpr std::size_t kNanosecondsPerNode = 100;

nb::tuple competitors_of(const CartTree& self) {
    std::size_t all = 0, size = self.nodes.size();
    for (const CartNode& node : self.nodes) all += node.competitors.size();
    SplitColumns splits(size, all);
    double* gain;
    nb::dict extra_columns;
    extra_columns["gain"] = new_array<double>({all}, &gain);
    for (std::size_t node_index = 0; node_index < size; ++node_index) {
        check_interrupt(kNanosecondsPerNode);
        const std::vector<CartSplit>& competitors = self.nodes[node_index].competitors;
        splits.begin(node_index, competitors.size());
        for (const CartSplit& split : competitors) gain[splits.add(split)] = split.gain;
    }
    return splits.arguments(extra_columns);
}

nb::tuple surrogates_of(const CartTree& self) {
    std::size_t all = 0, size = self.nodes.size();
    for (const CartNode& node : self.nodes) all += node.surrogates.size();
    SplitColumns splits(size, all);
    bool* reversed;
    double* agreement;
    nb::dict extra_columns;
    extra_columns["reversed"] = new_array<bool>({all}, &reversed);
    extra_columns["agreement"] = new_array<double>({all}, &agreement);
    for (std::size_t node_index = 0; node_index < size; ++node_index) {
        check_interrupt(kNanosecondsPerNode);
        const std::vector<Surrogate>& surrogates = self.nodes[node_index].surrogates;
        splits.begin(node_index, surrogates.size());
        for (const Surrogate& surrogate : surrogates) {
            std::size_t index = splits.add(surrogate.split);
            reversed[index] = surrogate.reversed;
            agreement[index] = surrogate.agreement;
        }
    }
    return splits.arguments(extra_columns);
}

nb::dict details(const CartTree& self) {
    std::size_t size = self.nodes.size();
    if (size == 0)
        throw InputError("this tree has no node statistics; only trees of grow_one have them");
    std::size_t outputs = self.node_values.size() / size;
    double *weight, *impurity, *value;
    std::int64_t* rows;
    nb::dict out;
    out["n_rows"] = new_array<std::int64_t>({size}, &rows);
    out["weight"] = new_array<double>({size}, &weight);
    out["impurity"] = new_array<double>({size}, &impurity);
    out["value"] = new_array<double>({size, outputs}, &value);
    InterruptScope interrupt(raise_pending);
    for (std::size_t node_index = 0; node_index < size; ++node_index) {
        const CartNode& node = self.nodes[node_index];
        rows[node_index] = node.rows;
        weight[node_index] = node.weight;
        impurity[node_index] = node.impurity;
    }
    std::copy(self.node_values.begin(), self.node_values.end(), value);
    out["competitors"] = competitors_of(self);
    out["surrogates"] = surrogates_of(self);
    return out;
}

std::shared_ptr<CodedTable> code_values(nb::object data, std::vector<std::uint32_t> categories,
                                        int threads) {
    OwnedTable table = table_of(data);
    check_length(categories.size(), table.columns.size(), "categories", "column");
    for (std::uint32_t levels : categories)
        check_at_most(levels, kMaxCategories, "levels in a column");
    check_at_most(table.rows, kMaxRows, "rows");
    LongCall call;
    Team team(threads);
    return std::make_shared<CodedTable>(CodedTable::exact(table, categories, team));
}

std::shared_ptr<CodedTable> code_bins(nb::object data, const Bins& bins, const std::string& isa,
                                      int threads) {
    OwnedTable table = table_of(data);
    check_length(bins.features.size(), table.columns.size(), "bins", "column");
    check_at_most(table.rows, kMaxRows, "rows");
    Isa chosen = parse_isa(isa);
    LongCall call;
    Team team(threads);
    return std::make_shared<CodedTable>(CodedTable::binned(table, bins.features, chosen, team));
}

// A table of codes whose rows are appended in batches.
class CodedTableBuilder {
  public:
    CodedTableBuilder(const Bins& bins, std::size_t rows, const std::string& folder) : bins_(bins) {
        check_at_most(rows, kMaxRows, "rows");
        table_ = std::make_shared<CodedTable>(CodedTable::of_bins(bins_.features, rows, folder));
    }

    void append(nb::object data, const std::string& isa, int threads) {
        InUse guard(in_use_, kTable);
        OwnedTable batch = table_of(data);
        if (!table_) throw InputError("the table is finished; create another one");
        check_length(bins_.features.size(), batch.columns.size(), "bins", "column");
        check_at_most(batch.rows, table_->rows - filled_rows_,
                      "rows in a batch, after which the table would be full");
        Isa chosen = parse_isa(isa);
        LongCall call;
        Team team(threads);
        table_->append(batch, bins_.features, filled_rows_, chosen, team);
        filled_rows_ += batch.rows;
    }

    std::shared_ptr<CodedTable> finish() {
        InUse guard(in_use_, kTable);
        if (!table_ || filled_rows_ != table_->rows)
            throw InputError("the table has " + std::to_string(filled_rows_) + " of " +
                             std::to_string(table_ ? table_->rows : 0) +
                             " rows; append the other rows first");
        return std::move(table_);
    }

  private:
    static constexpr const char* kTable = "the table";

    Bins bins_;
    std::shared_ptr<CodedTable> table_;
    std::size_t filled_rows_ = 0;
    std::atomic<bool> in_use_ = false;
};

void add_to(const CartTree& self, Ensemble& ensemble) {
    if (auto fault = find_fault(ensemble, self.tree))
        throw InputError("the tree does not match the ensemble: " + *fault);
    ensemble.add(self.tree);
}

nb::ndarray<nb::numpy, std::uint32_t> bag_counts(std::size_t rows, std::size_t draws, bool replace,
                                                 std::uint64_t key) {
    if (rows == 0) throw InputError("rows=0 is too small; a bag is drawn from at least one row");
    check_at_most(rows, kMaxRows, "rows");
    check_between(static_cast<double>(draws), 1, static_cast<double>(rows), "draws");
    LongCall call;
    std::vector<std::uint32_t> times = times_drawn(rows, draws, replace, key);
    nb::gil_scoped_acquire acquire;
    return to_array(times);
}

}  // namespace

void bind_cart(nb::module_& module) {
    nb::class_<CodedTable>(module, "CodedTable",
                           "A table whose values are replaced by integer codes in the same order.")
        .def_prop_ro("n_rows", [](const CodedTable& self) { return self.rows; })
        .def(
            "n_codes",
            [](const CodedTable& self, std::size_t feature) {
                check_index(feature, self.columns.size(), "feature");
                return self.columns[feature].codes;
            },
            nb::arg("feature"),
            "Return the number of codes of a feature, including the one for missing values.");

    module.def("code_values", code_values, nb::arg("data"), nb::arg("categories"),
               nb::arg("threads"), "Code a table with one code per distinct value of each column.");
    module.def("code_bins", code_bins, nb::arg("data"), nb::arg("bins"), nb::arg("isa"),
               nb::arg("threads"), "Code a table with one code per bin of each column.");

    module.def(
        "coded_bytes",
        [](const Bins& bins, std::size_t rows) {
            check_at_most(rows, kMaxRows, "rows");
            std::size_t bytes = 0;
            for (const CodedColumn& column : CodedTable::of_bins(bins.features, 0).columns)
                bytes += column.bytes_per_row() * rows;
            return bytes;
        },
        nb::arg("bins"), nb::arg("rows"), "Return the bytes of a table of codes, one per bin.");

    nb::class_<CodedTableBuilder>(
        module, "CodedTableBuilder",
        "A table of codes, one per bin, whose rows are appended in batches.")
        .def(nb::init<const Bins&, std::size_t, const std::string&>(), nb::arg("bins"),
             nb::arg("rows"), nb::arg("folder") = "",
             "Create an empty table: in temporary files of the folder, in memory if it is empty.")
        .def("append", &CodedTableBuilder::append, nb::arg("data"), nb::arg("isa"),
             nb::arg("threads"), "Code the next rows.")
        .def("finish", &CodedTableBuilder::finish, "Return the table after its last row.");

    nb::class_<CartTree>(module, "CartTree", "A tree with the statistics of its nodes.")
        .def("details", details,
             "Return rows, weight, impurity, value, competing splits and surrogate splits of all "
             "nodes.")
        .def("add_to", add_to, nb::arg("ensemble"), "Append the tree to an ensemble.");

    nb::class_<CartFit>(module, "CartFit",
                        "Grows CART trees (split by impurity) on one table and target.")
        .def(nb::init<std::shared_ptr<CodedTable>, nb::object, std::uint32_t, DoubleArray, nb::dict,
                      int, std::vector<std::uint32_t>>(),
             nb::arg("table"), nb::arg("target"), nb::arg("outputs"), nb::arg("weights"),
             nb::arg("options"), nb::arg("threads"),
             nb::arg("class_counts") = std::vector<std::uint32_t>{})
        .def("grow", &CartFit::grow, nb::arg("ensemble"), nb::arg("keys"), nb::arg("draws"),
             nb::arg("replace"), nb::arg("balanced") = false,
             "Append one tree per key, each grown on a bag of `draws` rows.")
        .def("grow_one", &CartFit::grow_one, nb::arg("key"), "Grow one tree on all rows.");

    module.def("bag_counts", bag_counts, nb::arg("rows"), nb::arg("draws"), nb::arg("replace"),
               nb::arg("key"),
               "Return how often each row occurs in the bag of the tree with this key.");
}
