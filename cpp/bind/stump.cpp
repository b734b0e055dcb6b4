#include "stump/stump.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/vectors.hpp"
#include "stump/blocks.hpp"
#include "stump/class_signs.hpp"
#include "stump/classes.hpp"
#include "stump/quantised.hpp"
#include "stump/rounds.hpp"
#include "trees/validate.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using Doubles = nb::ndarray<nb::numpy, double>;
using ClassArray = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BlockArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// For fewer values than this, starting a thread takes longer than the search.
constexpr std::size_t kSmallTable = 100'000;

StumpCriterion criterion_named(const std::string& name) {
    if (name == "error") return StumpCriterion::error;
    if (name == "exponential") return StumpCriterion::exponential;
    if (name == "squared") return StumpCriterion::squared;
    throw InputError("criterion='" + name +
                     "' is unknown; pass 'error', 'exponential' or 'squared'");
}

StumpVariant variant_named(const std::string& name) {
    if (name == "discrete") return StumpVariant::discrete;
    if (name == "real") return StumpVariant::real;
    if (name == "gentle") return StumpVariant::gentle;
    if (name == "logit") return StumpVariant::logit;
    if (name == "mada") return StumpVariant::mada;
    throw InputError("variant='" + name +
                     "' is unknown; pass 'discrete', 'real', 'gentle', 'logit' or 'mada'");
}

std::span<const double> span_of(const DoubleArray& array) { return {array.data(), array.shape(0)}; }

int threads_for(const Table& table, int threads) {
    return table.rows * table.columns.size() < kSmallTable ? 1 : threads;
}

StumpTable table_for(const Table& table, const std::vector<std::uint32_t>& categories,
                     const Bins* bins, Isa isa, Team& team) {
    if (table.rows == 0) throw InputError("columns have no rows; at least one row is needed");
    check_at_most(table.rows, RowOrder::kRow, "rows");
    check_length(categories.size(), table.columns.size(), "categories", "column");
    for (std::uint32_t levels : categories)
        check_at_most(levels, kMaxCategories, "levels in a column");
    if (bins == nullptr) return StumpTable(table, categories, isa, team);
    check_length(bins->features.size(), table.columns.size(), "bins", "column");
    return StumpTable(table, bins->features, isa, team);
}

// A table prepared once, with the threads that search it.
class Search {
  public:
    Search(nb::object columns, const std::vector<std::uint32_t>& categories, const Bins* bins,
           const std::string& isa, int threads)
        : source_(table_of(columns)), isa_(parse_isa(isa)), team_(threads_for(source_, threads)) {
        LongCall call;
        table_.emplace(table_for(source_, categories, bins, isa_, team_));
        finder_.emplace(*table_, isa_, team_);
    }

    const StumpTable& table() const { return *table_; }
    std::size_t rows() const { return source_.rows; }
    Isa isa() const { return isa_; }
    Team& team() { return team_; }
    // Locked while the threads are in use: another Python thread may call at the same time.
    std::mutex& in_use() { return in_use_; }

    Stump find_best(DoubleArray target, DoubleArray weight, const std::string& name) {
        StumpCriterion criterion = criterion_named(name);
        check_length(target.shape(0), rows(), "targets");
        check_length(weight.shape(0), rows(), "weights");
        LongCall call;
        std::scoped_lock lock(in_use_);
        QuantisedRows quantised(span_of(target), span_of(weight), criterion, team_);
        finder_->sum_all_rows(criterion, criterion == StumpCriterion::squared,
                              [&](Range run, std::int64_t* response, std::int64_t* weights, int) {
                                  return quantised.fill(run, response, weights);
                              });
        return finder_->find_best(criterion, quantised.scale()).stump;
    }

    Stump find_best_by_class(ClassArray target, std::uint32_t classes, DoubleArray weight) {
        check_at_most(classes, kMaxOutputs, "classes");
        check_length(target.shape(0), rows(), "targets");
        check_length(weight.shape(0), rows(), "weights");
        LongCall call;
        std::scoped_lock lock(in_use_);
        return bosquet::find_best_by_class(table(), team_, {target.data(), target.shape(0)},
                                           classes, span_of(weight));
    }

    Stump find_best_by_signs(DoubleMatrix target, DoubleMatrix weight) {
        check_length(target.shape(1), rows(), "targets");
        check_length(weight.shape(1), rows(), "weights");
        if (target.shape(0) != weight.shape(0))
            throw InputError("target has shape " + shape_text(target) + " and weight " +
                             shape_text(weight) + "; both must have shape (n_classes, n_rows)");
        check_at_most(target.shape(0), kMaxOutputs, "classes");
        LongCall call;
        std::scoped_lock lock(in_use_);
        std::size_t size = target.shape(0) * target.shape(1);
        return bosquet::find_best_by_signs(table(), team_, {target.data(), size},
                                           static_cast<std::uint32_t>(target.shape(0)),
                                           {weight.data(), size});
    }

  private:
    OwnedTable source_;
    Isa isa_;
    Team team_;
    std::optional<StumpTable> table_;
    std::optional<StumpFinder> finder_;
    std::mutex in_use_;
};

// The predictions of a stump for rows whose sides are known, shape (n_outputs, n_rows).
Doubles predictions_of(const Stump& stump, std::size_t rows,
                       const std::vector<std::uint8_t>& right) {
    std::vector<std::size_t> shape{rows};
    if (stump.outputs() > 1) shape.insert(shape.begin(), stump.outputs());
    double* out;
    Doubles result = new_array<double>(shape, &out);
    for (std::size_t k = 0; k < stump.outputs(); ++k, out += rows) {
        const double sides[2] = {stump.side(false)[k], stump.side(true)[k]};
        for (std::size_t i = 0; i < rows; ++i) out[i] = sides[right[i]];
    }
    return result;
}

Doubles on_rows(const Stump& stump, Search& search) {
    std::vector<std::uint8_t> right(search.rows());
    {
        LongCall call;
        std::scoped_lock lock(search.in_use());
        StumpSides sides(search.table(), stump, search.isa());
        sides.fill({0, right.size()}, right.data());
    }
    return predictions_of(stump, right.size(), right);
}

Doubles on_values(const Stump& stump, DoubleArray values) {
    std::vector<std::uint8_t> right(values.shape(0));
    for (std::size_t i = 0; i < right.size(); ++i)
        right[i] = !stump.is_constant() && !stump.goes_left(values.data()[i]);
    return predictions_of(stump, right.size(), right);
}

Doubles values_of(const Stump& stump) {
    double* out;
    Doubles result = new_array<double>({2, stump.outputs()}, &out);
    std::copy(stump.values.begin(), stump.values.end(), out);
    return result;
}

void add_to(const Stump& stump, Ensemble& ensemble, double scale,
            std::optional<DoubleMatrix> values) {
    if (!values) return append_stump(stump, stump.values, scale, ensemble);
    if (values->shape(0) != 2)
        throw InputError("values has shape " + shape_text(*values) +
                         ", but must have shape (2, n_outputs)");
    append_stump(stump, {values->data(), 2 * values->shape(1)}, scale, ensemble);
}

using StumpState = std::tuple<std::int32_t, bool, bool, double, std::vector<std::uint32_t>,
                              std::vector<double>, double, double, double, double>;

void check_stump(const Stump& stump) {
    if (stump.feature < Stump::kConstant || stump.threshold != stump.threshold)
        throw InputError("the state of a stump has an invalid feature number or threshold");
    if (stump.values.size() < 2 || stump.values.size() % 2 != 0)
        throw InputError(
            "the state of a stump must have as many values on the left side as on the right");
    check_at_most(stump.outputs(), kMaxOutputs, "outputs");
    check_finite(stump.values, "the values of a stump");
    const std::vector<std::uint32_t>& codes = stump.left_categories;
    for (std::size_t i = 0; i < codes.size(); ++i)
        if (codes[i] >= kMaxCategories || (i > 0 && codes[i] <= codes[i - 1]))
            throw InputError(
                "the left categories of a stump must be valid codes in ascending order");
    check_between(stump.criterion_value, -kLargest, kLargest, "the criterion value of a stump");
    check_between(stump.gain, -kLargest, kLargest, "the gain of a stump");
    check_between(stump.rows, 0, kLargest, "the weighted number of rows of a stump");
    check_between(stump.left_rows, 0, stump.rows, "the weighted number of left rows of a stump");
}

StumpState state_of(const Stump& stump) {
    return {stump.feature,
            stump.categorical,
            stump.missing_left,
            stump.threshold,
            stump.left_categories,
            stump.values,
            stump.criterion_value,
            stump.gain,
            stump.rows,
            stump.left_rows};
}

// Restores a stump from a pickled state. The state is checked, because a pickle may come from
// anywhere.
Stump stump_of(const nb::tuple& given) {
    auto state =
        cast_to<StumpState>(given, "the state of a stump", "the tuple returned by __getstate__");
    Stump stump;
    std::tie(stump.feature, stump.categorical, stump.missing_left, stump.threshold,
             stump.left_categories, stump.values, stump.criterion_value, stump.gain, stump.rows,
             stump.left_rows) = std::move(state);
    check_stump(stump);
    return stump;
}

void set_state(Stump& self, const nb::tuple& state) {
    Stump stump = stump_of(state);  // first, so that `self` is unchanged if this throws
    new (&self) Stump(std::move(stump));
}

// Boosting on the table of a search, which it keeps alive.
class Boost {
  public:
    Boost(std::shared_ptr<Search> search, DoubleArray target, DoubleArray weight,
          const std::string& variant, double learning_rate)
        : search_(std::move(search)) {
        StumpVariant chosen = variant_named(variant);
        check_length(target.shape(0), search_->rows(), "targets");
        check_length(weight.shape(0), search_->rows(), "weights");
        LongCall call;
        std::scoped_lock lock(search_->in_use());
        rounds_.emplace(search_->table(), search_->isa(), search_->team(), span_of(target),
                        span_of(weight), chosen, learning_rate);
    }

    nb::dict round(Ensemble& ensemble) {
        StumpRound report;
        {
            LongCall call;
            std::scoped_lock lock(search_->in_use());
            report = rounds_->round(ensemble);
        }
        nb::dict out;
        out["error"] = report.error;
        out["alpha"] = report.alpha;
        out["z"] = report.z;
        out["training_error"] = report.training_error;
        out["taken"] = report.taken;
        out["stump"] = nb::cast(std::move(report.stump));
        return out;
    }

    Doubles margins() const {
        double* out;
        Doubles result = new_array<double>({search_->rows()}, &out);
        LongCall call;
        std::scoped_lock lock(search_->in_use());
        std::span<const double> margins = rounds_->margins();
        std::copy(margins.begin(), margins.end(), out);
        return result;
    }

    Doubles weights() const {
        double* out;
        Doubles result = new_array<double>({search_->rows()}, &out);
        LongCall call;
        std::scoped_lock lock(search_->in_use());
        rounds_->weights(out);
        return result;
    }

  private:
    std::shared_ptr<Search> search_;
    std::optional<StumpBooster> rounds_;
};

Table features_of(const BlockArray& block, std::size_t rows) {
    if (block.shape(1) != rows)
        throw InputError(
            "a block has shape " + shape_text(block) +
            ", but must have shape (n_features, n_rows) with n_rows=" + std::to_string(rows));
    bool narrow = block.dtype() == nb::dtype<float>();
    if (!narrow && block.dtype() != nb::dtype<double>())
        throw InputError("a block has an unsupported dtype; pass float32 or float64");
    auto item = static_cast<std::ptrdiff_t>(block.itemsize());
    Table table{rows, std::vector<Column>(block.shape(0))};
    for (std::size_t f = 0; f < table.columns.size(); ++f)
        table.columns[f] = {static_cast<const std::byte*>(block.data()) +
                                static_cast<std::ptrdiff_t>(f) * block.stride(0) * item,
                            block.stride(1) * item, narrow ? ColumnType::f32 : ColumnType::f64};
    return table;
}

Stump find_best_of_blocks(nb::object blocks, DoubleArray target, DoubleArray weight,
                          const std::string& criterion, int threads, const std::string& isa) {
    check_length(weight.shape(0), target.shape(0), "weights");
    if (target.shape(0) == 0) throw InputError("target has no rows; at least one row is needed");
    check_at_most(target.shape(0), RowOrder::kRow, "rows");
    Team team(threads);
    auto search = make_block_search(span_of(target), span_of(weight), criterion_named(criterion),
                                    parse_isa(isa), team);
    for (nb::handle item : nb::iter(blocks)) {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        // Lists are copied to tuples: converting an entry may run Python code that changes the
        // list.
        nb::object pair = nb::isinstance<nb::list>(item) ? nb::tuple(item) : nb::borrow(item);
        auto [first, block] = cast_to<std::tuple<std::int64_t, BlockArray>>(
            pair, "a block", "a pair of the number of its first feature and a matrix of floats");
        check_at_most(block.shape(0), Node::kMaxFeature, "features");
        check_between(static_cast<double>(first), 0,
                      static_cast<double>(Node::kMaxFeature - block.shape(0)), "a feature number");
        Table features = features_of(block, target.shape(0));
        LongCall call;
        search->add(static_cast<std::uint32_t>(first), features);
    }
    return search->best();
}

void bind_stump_class(nb::module_& module) {
    nb::class_<Stump>(module, "Stump",
                      "A decision stump: one split on one feature, with a value on each side.")
        .def_ro("feature", &Stump::feature, "Number of the feature; -1 for a constant stump.")
        .def_ro("threshold", &Stump::threshold, "Values <= threshold go left.")
        .def_ro("left_categories", &Stump::left_categories,
                "Category codes of a categorical feature that go left.")
        .def_ro("categorical", &Stump::categorical,
                "Whether the split is on categories instead of a threshold.")
        .def_ro("missing_left", &Stump::missing_left, "Whether missing values go left.")
        .def_prop_ro("values", values_of, nb::rv_policy::move,
                     "Predictions on the left and on the right side, shape (2, n_outputs).")
        .def_ro("criterion_value", &Stump::criterion_value,
                "Value of the criterion in units of the weights; smaller is better.")
        .def_ro("gain", &Stump::gain, "Decrease of the criterion compared with the best constant.")
        .def(
            "on_rows", on_rows, nb::arg("search"),
            "Return the predictions for the training rows, shape (n_rows,) or (n_outputs, n_rows).")
        .def("on_values", on_values, nb::arg("values"),
             "Return the predictions for rows with these values of the feature.")
        .def("add_to", add_to, nb::arg("ensemble"), nb::arg("scale"),
             nb::arg("values").none() = nb::none(),
             "Append the stump to an ensemble as a tree. Its leaves hold `values` (default: those "
             "of the stump) times `scale`.")
        .def("__getstate__", state_of)
        .def("__setstate__", set_state);
}

}  // namespace

void bind_stump(nb::module_& module) {
    bind_stump_class(module);
    nb::class_<Search>(
        module, "StumpSearch",
        "A table that is prepared once and searched for the best stump in every round.")
        .def(nb::init<nb::object, std::vector<std::uint32_t>, const Bins*, const std::string&,
                      int>(),
             nb::arg("columns"), nb::arg("categories"), nb::arg("bins").none(), nb::arg("isa"),
             nb::arg("threads"),
             "If bins is None, every threshold between two distinct values is searched.")
        .def_prop_ro("n_rows", &Search::rows)
        .def_prop_ro("n_features", [](const Search& self) { return self.table().features(); })
        .def("find_best", &Search::find_best, nb::arg("target"), nb::arg("weight"),
             nb::arg("criterion"),
             "Return the stump that minimises the weighted 'error' or 'exponential' loss for "
             "targets -1 and 1, or the weighted 'squared' error for any targets.")
        .def("find_best_by_class", &Search::find_best_by_class, nb::arg("target"),
             nb::arg("n_classes"), nb::arg("weight"),
             "Return the stump with one class per side that minimises the weighted 0-1 error.")
        .def("find_best_by_signs", &Search::find_best_by_signs, nb::arg("target"),
             nb::arg("weight"),
             "Return the best stump with a sign per class on each side. Arrays have shape "
             "(n_classes, n_rows).");

    nb::class_<Boost>(module, "StumpBooster",
                      "Boosting on stumps for two classes, one round per call.")
        .def(nb::init<std::shared_ptr<Search>, DoubleArray, DoubleArray, const std::string&,
                      double>(),
             nb::arg("search"), nb::arg("target"), nb::arg("weight"), nb::arg("variant"),
             nb::arg("learning_rate"))
        .def("round", &Boost::round, nb::arg("ensemble"),
             "Run one round. Return a dict of error, alpha, z, training_error, taken and stump. A "
             "stump without error, or not better than chance, is returned but not added "
             "(taken=False).")
        .def("margins", &Boost::margins,
             "Return the margin y f(x) of each row, where f is the weighted sum of the stumps.")
        .def("weights", &Boost::weights,
             "Return the distribution over the rows for the next round.");

    module.def(
        "find_best_of_blocks", find_best_of_blocks, nb::arg("blocks"), nb::arg("target"),
        nb::arg("weight"), nb::arg("criterion"), nb::arg("threads") = 1, nb::arg("isa") = "auto",
        "Return the best stump over features that are given lazily: an iterable of pairs (number "
        "of the first feature, floats of shape (n_features, n_rows)). No block is kept in memory.");
}
