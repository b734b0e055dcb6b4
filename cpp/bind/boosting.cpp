#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/options.hpp"
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
    options.take("max_leaf_nodes", grow.max_leaf_nodes, 1, 65'535);
    options.take("max_depth", grow.max_depth);
    options.take("min_samples_leaf", grow.min_samples_leaf, 0, kMostRows);
    options.take("min_child_weight", grow.min_child_weight, 0, kLargest);
    options.take("l2_regularization", grow.l2, 0, kLargest);
    options.take("min_split_gain", grow.min_split_gain, 0, kLargest);
    options.take("max_delta_step", grow.max_delta_step, 0, kLargest);
    options.take("category_smoothing", grow.category_smoothing, 0, kLargest);
    options.take("category_l2", grow.category_l2, 0, kLargest);
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
    options.refuse_others();
    return boost;
}

using GradientArray = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::vector<double> copied(const DoubleArray& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// Keeps together what a fit in progress needs; the parts refer to each other.
class Fit {
  public:
    Fit(std::shared_ptr<BinnedMatrix> matrix, const Bins& bins, DoubleMatrix target,
        DoubleArray weight, const Loss& loss, nb::dict options, const std::string& isa, int threads)
        : bins_(bins),
          loss_(loss),
          team_(threads),
          train_(sample_of(std::move(matrix), std::move(target), std::move(weight))),
          booster_(*train_.sample, bins_.features, loss, checked(options_of(options)),
                   parse_isa(isa), team_) {}

    void set_holdout(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                     DoubleArray weight) {
        InUse now(in_use_, kName);
        holdout_ = sample_of(std::move(matrix), std::move(target), std::move(weight));
    }

    void start(DoubleMatrix raw, std::optional<DoubleMatrix> holdout_raw) {
        InUse now(in_use_, kName);
        check_raw(*train_.sample, raw);
        if (holdout_raw && !holdout_.sample) throw InputError("no validation set was given");
        if (holdout_raw) check_raw(*holdout_.sample, *holdout_raw);
        std::copy_n(raw.data(), raw.size(), train_.sample->raw(0));
        if (holdout_raw)
            std::copy_n(holdout_raw->data(), holdout_raw->size(), holdout_.sample->raw(0));
    }

    void start_from(DoubleArray constants) {
        InUse now(in_use_, kName);
        check_length(constants.shape(0), loss_.outputs(), "constants", "output");
        check_finite({constants.data(), constants.shape(0)}, "constants");
        for (Sample* sample : {train_.sample.get(), holdout_.sample.get()})
            for (std::uint32_t k = 0; sample != nullptr && k < loss_.outputs(); ++k)
                std::fill_n(sample->raw(k), sample->rows(), constants.data()[k]);
    }

    void round(Ensemble& ensemble, std::optional<GradientArray> given,
               std::optional<nb::callable> minimisers) {
        InUse now(in_use_, kName);
        std::span<const GradientPair> pairs;
        if (given) {
            if (given->shape(0) != loss_.outputs() || given->shape(1) != train_.sample->rows() ||
                given->shape(2) != 2)
                throw InputError("gradients must have the shape (outputs, rows, 2)");
            pairs = {reinterpret_cast<const GradientPair*>(given->data()),
                     given->shape(0) * given->shape(1)};
        }
        check(ensemble);
        Booster::LeafValues leaf_values;
        if (minimisers) leaf_values = asking(*minimisers);
        LongCall call;
        booster_.round(ensemble, pairs, leaf_values, holdout_.sample.get());
    }

    double train_loss() {
        InUse now(in_use_, kName);
        LongCall call;
        return booster_.sampled_train_loss();
    }
    double holdout_loss() {
        InUse now(in_use_, kName);
        if (!holdout_.sample) throw InputError("no validation set was given");
        LongCall call;
        return booster_.mean_loss(*holdout_.sample);
    }

    nb::ndarray<nb::numpy, double> raw(bool holdout) const {
        if (holdout && !holdout_.sample) throw InputError("no validation set was given");
        const Sample& sample = holdout ? *holdout_.sample : *train_.sample;
        double* out;
        auto array = new_array<double>({loss_.outputs(), sample.rows()}, &out);
        std::copy_n(sample.raw(0), loss_.outputs() * sample.rows(), out);
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
        out["holdout"] = t.holdout;
        return out;
    }

  private:
    static constexpr const char* kName = "the fit";

    // A sample reads the caller's arrays where they are, but for the numbers of classes: a number
    // that the caller changes after it was checked would lead out of the raw predictions.
    struct HeldSample {
        DoubleMatrix target;
        DoubleArray weight;
        std::vector<double> classes;
        std::unique_ptr<Sample> sample;
    };

    BoostOptions checked(BoostOptions options) const {
        for (const auto& group : options.grow.interactions)
            for (std::uint32_t f : group)
                if (f >= bins_.features.size())
                    throw InputError("an interaction names feature " + std::to_string(f) + " of " +
                                     std::to_string(bins_.features.size()));
        if (!options.grow.monotone.empty())
            check_length(options.grow.monotone.size(), bins_.features.size(), "monotone",
                         "feature");
        for (std::int8_t direction : options.grow.monotone)
            check_between(direction, -1, 1, "monotone");
        return options;
    }

    HeldSample sample_of(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                         DoubleArray weight) const {
        std::size_t rows = matrix->rows();
        if (Layout(bins_.features, rows).features != matrix->layout().features)
            throw InputError("the matrix was not made with these bins");
        if (rows == 0 || target.shape(0) != loss_.targets() || target.shape(1) != rows)
            throw InputError("targets do not have the loss's shape");
        std::span<const double> values{target.data(), target.size()};
        std::span<const double> weights{weight.data(), weight.shape(0)};
        loss_.check_classes(values);
        check_finite(values, "targets");
        check_weights(weights, rows);
        HeldSample held{std::move(target), std::move(weight), {}, nullptr};
        if (loss_.softmax()) {
            held.classes.assign(values.begin(), values.end());
            values = held.classes;
        }
        held.sample = std::make_unique<Sample>(std::move(matrix), values, weights, loss_.outputs());
        return held;
    }

    void check(const Ensemble& ensemble) const {
        if (ensemble.outputs != loss_.outputs())
            throw InputError("the ensemble has another number of outputs than the loss");
        if (ensemble.vector_leaves)
            throw InputError("boosting adds to one output at a time, this ensemble's trees to all");
        check_columns(ensemble, bins_.features.size());
        for (std::size_t f = 0; f < bins_.features.size(); ++f)
            if (ensemble.categories[f] != bins_.features[f].categories)
                throw InputError("feature " + std::to_string(f) + " has " +
                                 std::to_string(bins_.features[f].categories) +
                                 " categories in the bins and " +
                                 std::to_string(ensemble.categories[f]) + " in the ensemble");
    }

    // Asks Python for the values of a tree's leaves.
    static Booster::LeafValues asking(nb::callable minimisers) {
        return [minimisers](std::span<const std::uint16_t> leaf_of_row, std::size_t leaves,
                            std::uint32_t output) {
            nb::gil_scoped_acquire acquire;
            std::uint16_t* data;
            auto array = new_array<std::uint16_t>({leaf_of_row.size()}, &data);
            std::copy(leaf_of_row.begin(), leaf_of_row.end(), data);
            auto values =
                cast_to<DoubleArray>(minimisers(array, leaves, output), "what minimisers returns",
                                     "an array of doubles with one dimension");
            check_length(values.shape(0), leaves, "what minimisers returns", "leaf");
            check_finite({values.data(), leaves}, "what minimisers returns");
            return copied(values);
        };
    }

    void check_raw(const Sample& sample, const DoubleMatrix& raw) const {
        if (raw.shape(0) != loss_.outputs() || raw.shape(1) != sample.rows())
            throw InputError("raw predictions must have the shape (outputs, rows)");
        check_finite({raw.data(), raw.size()}, "raw predictions");
    }

    Bins bins_;
    Loss loss_;
    Team team_;
    HeldSample train_;
    HeldSample holdout_;
    Booster booster_;
    std::atomic<bool> in_use_ = false;
};

}  // namespace

void bind_boost(nb::module_& module) {
    nb::class_<Fit>(module, "Fit", "A boosting fit in progress: one call of round() a round.")
        .def(nb::init<std::shared_ptr<BinnedMatrix>, const Bins&, DoubleMatrix, DoubleArray,
                      const Loss&, nb::dict, const std::string&, int>(),
             nb::arg("matrix"), nb::arg("bins"), nb::arg("target"), nb::arg("weight"),
             nb::arg("loss"), nb::arg("options"), nb::arg("isa"), nb::arg("threads"))
        .def("set_holdout", &Fit::set_holdout, nb::arg("matrix"), nb::arg("target"),
             nb::arg("weight"))
        .def("start", &Fit::start, nb::arg("raw"), nb::arg("holdout_raw").none() = nb::none(),
             "Raw predictions (outputs, rows) to go on from.")
        .def("start_from", &Fit::start_from, nb::arg("constants"),
             "The same raw prediction for every row, one constant an output.")
        .def("round", &Fit::round, nb::arg("ensemble"), nb::arg("gradients").none() = nb::none(),
             nb::arg("minimisers").none() = nb::none(),
             "One tree an output. `gradients` (outputs, rows, 2) replace the loss's own; "
             "`minimisers("
             "leaf_of_row, leaves, output)` then gives the leaves' values unless steps are "
             "Newton's.")
        .def("train_loss", &Fit::train_loss)
        .def("holdout_loss", &Fit::holdout_loss)
        .def("raw", &Fit::raw, nb::arg("holdout") = false)
        .def("timings", &Fit::timings);
}
