#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/options.hpp"
#include "bind/parts.hpp"
#include "boosting/booster.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

BoostOptions options_of(const nb::dict& given) {
    Options options(given);
    BoostOptions boost;
    GrowOptions& grow = boost.grow;
    bool depth_wise = false;
    options.take("depth_wise", depth_wise);
    grow.growth = depth_wise ? Growth::depth_wise : Growth::best_first;
    options.take("max_leaf_nodes", grow.max_leaf_nodes, 1, kMaxLeaves);
    options.take("max_depth", grow.max_depth);
    options.take("min_samples_leaf", grow.min_samples_leaf, 0, kMaxRows);
    options.take("min_child_weight", grow.min_child_weight, 0, kLargest);
    options.take("l2_regularization", grow.l2, 0, kLargest);
    options.take("min_split_gain", grow.min_split_gain, 0, kLargest);
    options.take("max_delta_step", grow.max_delta_step, 0, kLargest);
    options.take("category_smoothing", grow.category_smoothing, 0, kLargest);
    options.take("category_l2", grow.category_l2, 0, kLargest);
    options.take("split_noise", grow.split_noise, 0, kLargest);
    options.take("max_category_threshold", grow.max_category_threshold);
    options.take("min_samples_category", grow.min_samples_category);
    options.take("features_by_tree", grow.features_by_tree, kSmallest, 1);
    options.take("features_by_level", grow.features_by_level, kSmallest, 1);
    options.take("features_by_node", grow.features_by_node, kSmallest, 1);
    options.take("monotone", grow.monotone);
    options.take("interactions", grow.interactions);
    options.take("learning_rate", boost.learning_rate, -kLargest, kLargest);
    options.take("subsample", boost.subsample, kSmallest, 1);
    options.take("gradient_sampling", boost.gradient_sampling);
    options.take("newton", boost.newton);
    options.take("seed", boost.seed);
    options.take("first_round", boost.first_round);
    options.take("stochastic_rounding_above", boost.stochastic_rounding_above);
    options.reject_unknown();
    return boost;
}

void check_boosted_rows(std::uint64_t rows) { check_at_most(rows, kMaxBoostedRows, "rows"); }

using GradientArray = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::vector<double> copy_to_vector(const DoubleArray& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// A boosting fit in progress: the samples, the booster and the threads, which refer to each other.
class BoostingFit {
  public:
    BoostingFit(std::shared_ptr<BinnedMatrix> matrix, const Bins& bins, DoubleMatrix target,
                DoubleArray weight, const Loss& loss, nb::dict options, const std::string& isa,
                int threads, const OwnedPart* part)
        : bins_(bins),
          loss_(loss),
          team_(threads),
          train_(fit_data_of(std::move(matrix), std::move(target), std::move(weight), part)),
          booster_(*train_.fit_data, bins_.features, loss, checked(options_of(options)),
                   parse_isa(isa), team_) {
        check_boosted_rows(train_.fit_data->all_rows());
    }

    void set_validation(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                        DoubleArray weight, const OwnedPart* part) {
        InUse guard(in_use_, kName);
        validation_ = fit_data_of(std::move(matrix), std::move(target), std::move(weight), part);
    }

    void add_version(std::shared_ptr<BinnedMatrix> matrix) {
        InUse guard(in_use_, kName);
        if (matrix->rows() != train_.fit_data->rows() ||
            matrix->layout().features != train_.fit_data->matrix().layout().features)
            throw InputError(
                "matrix must have the rows and the bins of the matrix that the fit was created "
                "with");
        train_.fit_data->add_version(std::move(matrix));
    }

    void start(DoubleMatrix raw, std::optional<DoubleMatrix> validation_raw) {
        InUse guard(in_use_, kName);
        check_raw(*train_.fit_data, raw);
        if (validation_raw) check_raw(validation_data(), *validation_raw);
        std::copy_n(raw.data(), raw.size(), train_.fit_data->raw(0));
        if (validation_raw)
            std::copy_n(validation_raw->data(), validation_raw->size(), validation_data().raw(0));
    }

    void start_from(DoubleArray constants) {
        InUse guard(in_use_, kName);
        check_length(constants.shape(0), loss_.outputs(), "constants", "output");
        check_finite({constants.data(), constants.shape(0)}, "constants");
        for (FitData* fit_data : {train_.fit_data.get(), validation_.fit_data.get()})
            for (std::uint32_t k = 0; fit_data != nullptr && k < loss_.outputs(); ++k)
                std::fill_n(fit_data->raw(k), fit_data->rows(), constants.data()[k]);
    }

    void round(Ensemble& ensemble, std::optional<GradientArray> custom_gradients,
               std::optional<nb::callable> minimisers) {
        InUse guard(in_use_, kName);
        std::span<const GradientPair> pairs;
        if (custom_gradients) {
            if (custom_gradients->shape(0) != loss_.outputs() ||
                custom_gradients->shape(1) != train_.fit_data->rows() ||
                custom_gradients->shape(2) != 2)
                throw InputError("gradients has shape " + shape_text(*custom_gradients) +
                                 ", but must have shape (n_outputs, n_rows, 2) = (" +
                                 std::to_string(loss_.outputs()) + ", " +
                                 std::to_string(train_.fit_data->rows()) + ", 2)");
            pairs = {reinterpret_cast<const GradientPair*>(custom_gradients->data()),
                     custom_gradients->shape(0) * custom_gradients->shape(1)};
        }
        check(ensemble);
        Booster::LeafValues leaf_values;
        if (minimisers) leaf_values = leaf_values_from(*minimisers);
        LongCall call;
        booster_.round(ensemble, pairs, leaf_values, validation_.fit_data.get());
    }

    double train_loss() {
        InUse guard(in_use_, kName);
        LongCall call;
        return booster_.sampled_train_loss();
    }
    double validation_loss() {
        InUse guard(in_use_, kName);
        const FitData& fit_data = validation_data();
        LongCall call;
        return booster_.mean_loss(fit_data);
    }

    nb::ndarray<nb::numpy, double> raw(bool validation) const {
        const FitData& fit_data = validation ? validation_data() : *train_.fit_data;
        double* out;
        auto array = new_array<double>({loss_.outputs(), fit_data.rows()}, &out);
        std::copy_n(fit_data.raw(0), loss_.outputs() * fit_data.rows(), out);
        return array;
    }

    nb::dict timings() const {
        const Timings& t = booster_.timings();
        nb::dict out;
        out["gradient"] = t.gradient;
        out["sample"] = t.sample;
        out["grow"] = t.grow;
        out["histogram"] = t.growing.histogram;
        out["split"] = t.growing.split;
        out["partition"] = t.growing.partition;
        out["leaves"] = t.leaves;
        out["update"] = t.update;
        out["validation"] = t.validation;
        return out;
    }

  private:
    static constexpr const char* kName = "the fit";

    // FitData reads the caller's arrays in place, except the class numbers. These are copied: if
    // the caller changed one after the check, it could index outside the raw predictions.
    struct OwnedFitData {
        DoubleMatrix target;
        DoubleArray weight;
        std::vector<double> classes;
        std::shared_ptr<Reducer> reducer;  // of a part
        std::unique_ptr<FitData> fit_data;
    };

    FitData& validation_data() const {
        if (!validation_.fit_data)
            throw InputError("the fit has no validation set; call set_validation first");
        return *validation_.fit_data;
    }

    BoostOptions checked(BoostOptions options) const {
        for (const auto& group : options.grow.interactions)
            for (std::uint32_t f : group)
                if (f >= bins_.features.size())
                    throw InputError("interactions contain feature " + std::to_string(f) +
                                     ", but there are only " +
                                     std::to_string(bins_.features.size()) + " features");
        if (!options.grow.monotone.empty())
            check_length(options.grow.monotone.size(), bins_.features.size(), "monotone",
                         "feature");
        for (std::int8_t direction : options.grow.monotone)
            check_between(direction, -1, 1, "monotone");
        return options;
    }

    OwnedFitData fit_data_of(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                             DoubleArray weight, const OwnedPart* part) const {
        std::size_t rows = matrix->rows();
        if (Layout(bins_.features, rows, matrix->layout().has_columns).features !=
            matrix->layout().features)
            throw InputError(
                "matrix was not made with these bins; pass the result of bin_table(data, bins)");
        if ((rows == 0 && part == nullptr) || target.shape(0) != loss_.targets() ||
            target.shape(1) != rows)
            throw InputError("target has shape " + shape_text(target) +
                             ", but the loss and the matrix need shape (n_targets, n_rows) = (" +
                             std::to_string(loss_.targets()) + ", " + std::to_string(rows) +
                             ") with at least one row");
        std::span<const double> values{target.data(), target.size()};
        std::span<const double> weights{weight.data(), weight.shape(0)};
        loss_.check_classes(values);
        check_finite(values, "targets");
        check_weights(weights, rows);
        if (part != nullptr) check_length(part->rows, rows, "part");
        OwnedFitData owned{std::move(target), std::move(weight), {}, {}, nullptr};
        if (loss_.softmax()) {
            owned.classes.assign(values.begin(), values.end());
            values = owned.classes;
        }
        owned.fit_data =
            std::make_unique<FitData>(std::move(matrix), values, weights, loss_.outputs());
        if (part != nullptr) {
            owned.reducer = part->reducer;
            owned.fit_data->set_part(part->part);
        }
        return owned;
    }

    void check(const Ensemble& ensemble) const {
        if (ensemble.outputs != loss_.outputs())
            throw InputError("the ensemble has " + std::to_string(ensemble.outputs) +
                             " outputs, but the loss has " + std::to_string(loss_.outputs()));
        if (ensemble.vector_leaves && (loss_.outputs() < 2 || booster_.is_monotone()))
            throw InputError(
                "an ensemble with vector_leaves=True needs several outputs and no monotone "
                "constraints");
        check_columns(ensemble, bins_.features.size());
        for (std::size_t f = 0; f < bins_.features.size(); ++f)
            if (ensemble.categories[f] != bins_.features[f].categories)
                throw InputError("feature " + std::to_string(f) + " has " +
                                 std::to_string(bins_.features[f].categories) +
                                 " categories in the bins, but " +
                                 std::to_string(ensemble.categories[f]) + " in the ensemble");
    }

    // Computes the values of a tree's leaves with the Python function `minimisers`.
    static Booster::LeafValues leaf_values_from(nb::callable minimisers) {
        return [minimisers](std::span<const std::uint16_t> leaf_of_row, std::size_t leaves,
                            std::uint32_t output) {
            nb::gil_scoped_acquire acquire;
            std::uint16_t* data;
            auto array = new_array<std::uint16_t>({leaf_of_row.size()}, &data);
            std::copy(leaf_of_row.begin(), leaf_of_row.end(), data);
            auto values =
                cast_to<DoubleArray>(minimisers(array, leaves, output), "the result of minimisers",
                                     "an array of doubles with one dimension");
            check_length(values.shape(0), leaves, "the result of minimisers", "leaf");
            check_finite({values.data(), leaves}, "the result of minimisers");
            return copy_to_vector(values);
        };
    }

    void check_raw(const FitData& fit_data, const DoubleMatrix& raw) const {
        if (raw.shape(0) != loss_.outputs() || raw.shape(1) != fit_data.rows())
            throw InputError("raw predictions have shape " + shape_text(raw) +
                             ", but must have shape (n_outputs, n_rows) = (" +
                             std::to_string(loss_.outputs()) + ", " +
                             std::to_string(fit_data.rows()) + ")");
        check_finite({raw.data(), raw.size()}, "raw predictions");
    }

    Bins bins_;
    Loss loss_;
    Team team_;
    OwnedFitData train_;
    OwnedFitData validation_;
    Booster booster_;
    std::atomic<bool> in_use_ = false;
};

}  // namespace

void bind_boosting(nb::module_& module) {
    nb::class_<BoostingFit>(
        module, "BoostingFit",
        "A gradient boosting fit in progress; each call of round() runs one boosting round.")
        .def(nb::init<std::shared_ptr<BinnedMatrix>, const Bins&, DoubleMatrix, DoubleArray,
                      const Loss&, nb::dict, const std::string&, int, const OwnedPart*>(),
             nb::arg("matrix"), nb::arg("bins"), nb::arg("target"), nb::arg("weight"),
             nb::arg("loss"), nb::arg("options"), nb::arg("isa"), nb::arg("threads"),
             nb::arg("part").none() = nb::none(),
             "With a part, the rows are combined with those of the other parts.")
        .def("set_validation", &BoostingFit::set_validation, nb::arg("matrix"), nb::arg("target"),
             nb::arg("weight"), nb::arg("part").none() = nb::none(),
             "Set the validation set, binned with the same bins.")
        .def("add_version", &BoostingFit::add_version, nb::arg("matrix"),
             "Add another version of the training rows, with the same bins. The version that the "
             "fit "
             "was created with gives the leaf values; the others give the splits, in turn.")
        .def("start", &BoostingFit::start, nb::arg("raw"),
             nb::arg("validation_raw").none() = nb::none(),
             "Start from raw predictions of shape (n_outputs, n_rows).")
        .def("start_from", &BoostingFit::start_from, nb::arg("constants"),
             "Start from one constant per output, the same for every row.")
        .def("round", &BoostingFit::round, nb::arg("ensemble"),
             nb::arg("gradients").none() = nb::none(), nb::arg("minimisers").none() = nb::none(),
             "Run one round: add one tree per output to the ensemble. `gradients` of shape "
             "(n_outputs, n_rows, 2) holds pairs of gradient and Hessian that replace those of the "
             "loss. `minimisers(leaf_of_row, n_leaves, output)` returns the leaf values in that "
             "case, unless the option `newton` is set.")
        .def("train_loss", &BoostingFit::train_loss,
             "Return the mean training loss over at most 16,384 evenly spaced rows.")
        .def("validation_loss", &BoostingFit::validation_loss,
             "Return the mean loss on the validation set.")
        .def("raw", &BoostingFit::raw, nb::arg("validation") = false,
             "Return the raw predictions, shape (n_outputs, n_rows).")
        .def("timings", &BoostingFit::timings,
             "Return the seconds spent in each phase of the rounds.");
    module.def("check_boosted_rows", check_boosted_rows, nb::arg("rows"),
               "Raise a ValueError if a fit cannot have this many training rows.");
}
