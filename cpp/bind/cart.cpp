#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "bind/bindings.hpp"
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
    throw InputError("unknown criterion '" + name + "'");
}

CartOptions options_of(nb::dict given) {
    nb::dict options;
    options.update(given);
    CartOptions cart;
    std::string criterion = "gini";
    take(options, "criterion", criterion);
    cart.criterion = criterion_named(criterion);
    take(options, "min_samples_split", cart.min_samples_split);
    take(options, "min_samples_leaf", cart.min_samples_leaf);
    take(options, "min_weight_leaf", cart.min_weight_leaf);
    take(options, "max_depth", cart.max_depth);
    take(options, "max_leaf_nodes", cart.max_leaf_nodes);
    take(options, "min_impurity_decrease", cart.min_impurity_decrease);
    take(options, "features_per_node", cart.features_per_node);
    take(options, "random_thresholds", cart.random_thresholds);
    take(options, "monotone", cart.monotone);
    take(options, "competitors", cart.competitors);
    take(options, "surrogates", cart.surrogates);
    refuse_others(options);
    return cart;
}

// Keeps together what growing needs for as long as trees are grown; it reads the caller's arrays
// where they are.
class CartFit {
  public:
    CartFit(std::shared_ptr<CodedTable> table, nb::object target, std::uint32_t outputs,
            DoubleArray weights, nb::dict options, int threads,
            std::vector<std::uint32_t> class_counts)
        : table_(std::move(table)),
          class_counts_(std::move(class_counts)),
          weights_(std::move(weights)),
          options_(options_of(options)),
          team_(threads) {
        target_.outputs = outputs;
        std::size_t rows = take_target(target);
        if (rows != table_->rows || rows == 0)
            throw InputError("targets must have one entry a row");
        if (weights_.shape(0) != 0 && weights_.shape(0) != rows)
            throw InputError("weights must have one entry a row");
        if (!options_.monotone.empty() && options_.monotone.size() != table_->columns.size())
            throw InputError("monotone constraints must name every feature");
        growers_.resize(team_.size());
    }

    // One tree for each key, each on a bag of its own.
    void grow(Ensemble& ensemble, const std::vector<std::uint64_t>& keys, std::size_t draws,
              bool replace, bool balanced) {
        check(ensemble);
        nb::gil_scoped_release release;
        std::vector<Tree> trees(keys.size());
        team_.run(keys.size(), [&](std::size_t i, int worker) {
            Bag bag = draw_bag(table_->rows, draws, replace, weights(), keys[i]);
            if (balanced) balance(bag);
            if (bag.rows.empty()) throw InputError("a bag drew no row of weight above 0");
            trees[i] = grower(worker).grow(bag, keys[i], false, nullptr).tree;
        });
        for (Tree& tree : trees) ensemble.trees.push_back(std::move(tree));
    }

    // One tree on all rows whose weight is above 0, with all that is known of its nodes.
    std::shared_ptr<CartTree> grow_one(std::uint64_t key) {
        nb::gil_scoped_release release;
        Bag bag = draw_bag(table_->rows, table_->rows, false, weights(), key);
        if (bag.rows.empty()) throw InputError("no row has a weight above 0");
        if (!shared_grower_)
            shared_grower_ = make_cart_grower(*table_, target_, options_, team_.size());
        return std::make_shared<CartTree>(shared_grower_->grow(bag, key, true, &team_));
    }

  private:
    std::span<const double> weights() const { return {weights_.data(), weights_.shape(0)}; }

    // Checks the target, and returns its number of rows.
    std::size_t take_target(nb::object target) {
        if (!class_counts_.empty()) return take_several_classes(nb::cast<ClassMatrix>(target));
        if (nb::isinstance<ClassArray>(target)) {
            classes_ = nb::cast<ClassArray>(target);
            target_.classes = {classes_.data(), classes_.shape(0)};
            for (std::uint32_t which : target_.classes)
                if (which >= target_.outputs) throw InputError("a class number is out of range");
            return target_.classes.size();
        }
        numbers_ = nb::cast<DoubleMatrix>(target);
        if (numbers_.shape(0) != target_.outputs) throw InputError("one row of numbers an output");
        target_.numbers = {numbers_.data(), numbers_.shape(0) * numbers_.shape(1)};
        return numbers_.shape(1);
    }

    std::size_t take_several_classes(ClassMatrix places) {
        several_ = places;
        if (places.shape(0) != class_counts_.size())
            throw InputError("one row of classes a target");
        std::size_t first = 0, rows = places.shape(1);
        for (std::size_t t = 0; t < class_counts_.size(); ++t) {
            for (std::size_t i = 0; i < rows; ++i) {
                std::uint32_t place = places.data()[t * rows + i];
                if (place < first || place >= first + class_counts_[t])
                    throw InputError("the place of a class is out of range");
            }
            first += class_counts_[t];
        }
        if (first != target_.outputs) throw InputError("the targets have other classes in all");
        target_.class_counts = class_counts_;
        target_.classes = {places.data(), places.shape(0) * rows};
        return rows;
    }

    void check(const Ensemble& ensemble) const {
        bool vectors = target_.outputs > (target_.is_classes() ? 2u : 1u) || !class_counts_.empty();
        std::uint32_t outputs = vectors ? target_.outputs : 1;
        if (ensemble.features != table_->columns.size() || ensemble.outputs != outputs ||
            ensemble.vector_leaves != vectors)
            throw InputError("the ensemble does not fit the target");
    }

    CartGrower& grower(int worker) {
        if (!growers_[worker]) growers_[worker] = make_cart_grower(*table_, target_, options_, 1);
        return *growers_[worker];
    }

    // Weights by which the classes of a bag weigh the same.
    void balance(Bag& bag) const {
        if (!target_.is_classes() || !class_counts_.empty())
            throw InputError("only the classes of one target can be balanced");
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
    ClassArray classes_;
    ClassMatrix several_;
    DoubleMatrix numbers_;
    DoubleArray weights_;
    CartTarget target_;
    CartOptions options_;
    Team team_;
    std::vector<std::unique_ptr<CartGrower>> growers_;  // one a thread
    std::unique_ptr<CartGrower> shared_grower_;
};

nb::object codes_of(const Cut& cut) {
    if (!cut.nominal) return nb::none();
    nb::list codes;
    for (std::uint32_t code : cut.left_codes) codes.append(code - 1);
    return codes;
}

nb::dict cut_as_dict(const Cut& cut) {
    nb::dict out;
    out["feature"] = cut.feature;
    out["threshold"] = cut.nominal ? std::numeric_limits<double>::quiet_NaN() : cut.threshold;
    out["left_categories"] = codes_of(cut);
    return out;
}

nb::dict details(const CartTree& self) {
    std::size_t size = self.nodes.size();
    std::size_t outputs = self.node_values.size() / size;
    double *weight, *impurity, *value;
    std::int64_t* rows;
    nb::dict out;
    out["n_rows"] = new_array<std::int64_t>({size}, &rows);
    out["weight"] = new_array<double>({size}, &weight);
    out["impurity"] = new_array<double>({size}, &impurity);
    out["value"] = new_array<double>({size, outputs}, &value);
    nb::list competitors, surrogates;
    for (std::size_t at = 0; at < size; ++at) {
        const CartNode& node = self.nodes[at];
        rows[at] = node.rows;
        weight[at] = node.weight;
        impurity[at] = node.impurity;
        nb::list runners_up, stand_ins;
        for (const Cut& cut : node.competitors) {
            nb::dict one = cut_as_dict(cut);
            one["gain"] = cut.merit;
            runners_up.append(one);
        }
        for (const Surrogate& surrogate : node.surrogates) {
            nb::dict one = cut_as_dict(surrogate.cut);
            one["reversed"] = surrogate.reversed;
            one["agreement"] = surrogate.agreement;
            stand_ins.append(one);
        }
        competitors.append(runners_up);
        surrogates.append(stand_ins);
    }
    std::copy(self.node_values.begin(), self.node_values.end(), value);
    out["competitors"] = competitors;
    out["surrogates"] = surrogates;
    return out;
}

void check_categories(const std::vector<std::uint32_t>& categories, const Table& table) {
    if (categories.size() != table.columns.size())
        throw InputError("categories must name every column");
    if (table.rows >= 0xffffffffu) throw InputError("at most 2^32 - 2 rows");
}

}  // namespace

void bind_cart(nb::module_& module) {
    nb::class_<CodedTable>(module, "CodedTable", "A table as codes in the order of its values.")
        .def_prop_ro("n_rows", [](const CodedTable& self) { return self.rows; })
        .def(
            "n_codes",
            [](const CodedTable& self, std::size_t f) { return self.columns.at(f).codes; },
            nb::arg("feature"), "Number of codes, the one for missing values included.");

    module.def(
        "code_values",
        [](nb::object data, std::vector<std::uint32_t> categories, int threads) {
            Table table = table_of(data);
            check_categories(categories, table);
            nb::gil_scoped_release release;
            Team team(threads);
            return std::make_shared<CodedTable>(CodedTable::exact(table, categories, team));
        },
        nb::arg("data"), nb::arg("categories"), nb::arg("threads"),
        "One code a distinct value of each column.");
    module.def(
        "code_bins",
        [](nb::object data, const Bins& bins, const std::string& isa, int threads) {
            Table table = table_of(data);
            if (table.columns.size() != bins.features.size())
                throw InputError("the table has another number of columns than the bins");
            Isa chosen = parse_isa(isa);
            nb::gil_scoped_release release;
            Team team(threads);
            return std::make_shared<CodedTable>(
                CodedTable::binned(table, bins.features, chosen, team));
        },
        nb::arg("data"), nb::arg("bins"), nb::arg("isa"), nb::arg("threads"),
        "One code a bin of each column.");

    nb::class_<CartTree>(module, "CartTree", "A tree with all that is known of its nodes.")
        .def("details", details, "Rows, weight, impurity, value, competitors and surrogates.")
        .def(
            "add_to",
            [](const CartTree& self, Ensemble& ensemble) { ensemble.trees.push_back(self.tree); },
            nb::arg("ensemble"));

    nb::class_<CartFit>(module, "CartFit", "Grows trees by impurity on one table and target.")
        .def(nb::init<std::shared_ptr<CodedTable>, nb::object, std::uint32_t, DoubleArray, nb::dict,
                      int, std::vector<std::uint32_t>>(),
             nb::arg("table"), nb::arg("target"), nb::arg("outputs"), nb::arg("weights"),
             nb::arg("options"), nb::arg("threads"),
             nb::arg("class_counts") = std::vector<std::uint32_t>{})
        .def("grow", &CartFit::grow, nb::arg("ensemble"), nb::arg("keys"), nb::arg("draws"),
             nb::arg("replace"), nb::arg("balanced") = false,
             "Adds one tree for each key, grown on a bag of `draws` rows.")
        .def("grow_one", &CartFit::grow_one, nb::arg("key"), "One tree on all rows.");

    module.def(
        "bag_counts",
        [](std::size_t rows, std::size_t draws, bool replace, std::uint64_t key) {
            std::uint32_t* out;
            auto counts = new_array<std::uint32_t>({rows}, &out);
            std::fill_n(out, rows, 0u);
            Bag bag = draw_bag(rows, draws, replace, {}, key);
            for (std::size_t i = 0; i < bag.rows.size(); ++i)
                out[bag.rows[i]] = static_cast<std::uint32_t>(bag.weights[i]);
            return counts;
        },
        nb::arg("rows"), nb::arg("draws"), nb::arg("replace"), nb::arg("key"),
        "How often each row is in the bag that a tree with this key was grown on.");
}
