#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/options.hpp"
#include "boost/booster.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

BoostOptions options_of(nb::dict given) {
    nb::dict options;
    options.update(given);
    BoostOptions boost;
    GrowOptions& grow = boost.grow;
    bool depth_wise = false;
    take(options, "depth_wise", depth_wise);
    grow.growth = depth_wise ? Growth::depth_wise : Growth::best_first;
    take(options, "max_leaf_nodes", grow.max_leaf_nodes);
    take(options, "max_depth", grow.max_depth);
    take(options, "min_samples_leaf", grow.min_samples_leaf);
    take(options, "min_child_weight", grow.min_child_weight);
    take(options, "l2_regularization", grow.l2);
    take(options, "min_split_gain", grow.min_split_gain);
    take(options, "max_delta_step", grow.max_delta_step);
    take(options, "category_smoothing", grow.category_smoothing);
    take(options, "category_l2", grow.category_l2);
    take(options, "max_category_threshold", grow.max_category_threshold);
    take(options, "min_samples_category", grow.min_samples_category);
    take(options, "features_by_tree", grow.features_by_tree);
    take(options, "features_by_level", grow.features_by_level);
    take(options, "features_by_node", grow.features_by_node);
    take(options, "monotone", grow.monotone);
    take(options, "interactions", grow.interactions);
    take(options, "learning_rate", boost.learning_rate);
    take(options, "subsample", boost.subsample);
    take(options, "gradient_sampling", boost.gradient_sampling);
    take(options, "newton", boost.newton);
    take(options, "seed", boost.seed);
    refuse_others(options);
    if (grow.max_leaf_nodes > 65'535) throw InputError("max_leaf_nodes must be at most 65535");
    return boost;
}

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
          booster_(*train_.sample, bins_.features, loss, options_of(options), parse_isa(isa),
                   team_) {
        const BoostOptions boost = options_of(options);
        for (const auto& group : boost.grow.interactions)
            for (std::uint32_t f : group)
                if (f >= bins_.features.size()) throw InputError("an interaction names no feature");
        if (!boost.grow.monotone.empty() && boost.grow.monotone.size() != bins_.features.size())
            throw InputError("monotone constraints must name every feature");
    }

    void set_holdout(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                     DoubleArray weight) {
        holdout_ = sample_of(std::move(matrix), std::move(target), std::move(weight));
    }

    void start(DoubleMatrix raw, std::optional<DoubleMatrix> holdout_raw) {
        put_raw(*train_.sample, raw);
        if (holdout_.sample && holdout_raw) put_raw(*holdout_.sample, *holdout_raw);
    }

    void start_from(DoubleArray constants) {
        if (constants.shape(0) != loss_.outputs())
            throw InputError("one constant an output is needed");
        for (Sample* sample : {train_.sample.get(), holdout_.sample.get()})
            for (std::uint32_t k = 0; sample != nullptr && k < loss_.outputs(); ++k)
                std::fill_n(sample->raw(k), sample->rows(), constants.data()[k]);
    }

    void round(Ensemble& ensemble,
               std::optional<nb::ndarray<const float, nb::ndim<3>, nb::c_contig>> given,
               std::optional<nb::callable> minimisers) {
        std::span<const GradientPair> pairs;
        if (given) {
            if (given->shape(0) != loss_.outputs() || given->shape(1) != train_.sample->rows() ||
                given->shape(2) != 2)
                throw InputError("gradients must have the shape (outputs, rows, 2)");
            pairs = {reinterpret_cast<const GradientPair*>(given->data()),
                     given->shape(0) * given->shape(1)};
        }
        if (ensemble.outputs != loss_.outputs())
            throw InputError("the ensemble has another number of outputs than the loss");
        if (ensemble.vector_leaves)
            throw InputError("boosting adds to one output at a time, this ensemble's trees to all");
        Booster::LeafValues leaf_values;
        if (minimisers) leaf_values = asking(*minimisers);
        nb::gil_scoped_release release;
        booster_.round(ensemble, pairs, leaf_values, holdout_.sample.get());
    }

    double train_loss() {
        nb::gil_scoped_release release;
        return booster_.sampled_train_loss();
    }
    double holdout_loss() {
        if (!holdout_.sample) throw InputError("no rows were set aside");
        nb::gil_scoped_release release;
        return booster_.mean_loss(*holdout_.sample);
    }

    nb::ndarray<nb::numpy, double> raw(bool holdout) const {
        if (holdout && !holdout_.sample) throw InputError("no rows were set aside");
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
    // A sample reads the caller's arrays where they are.
    struct HeldSample {
        DoubleMatrix target;
        DoubleArray weight;
        std::unique_ptr<Sample> sample;
    };

    HeldSample sample_of(std::shared_ptr<BinnedMatrix> matrix, DoubleMatrix target,
                         DoubleArray weight) const {
        std::size_t rows = matrix->rows();
        if (rows == 0 || target.shape(0) != loss_.targets() || target.shape(1) != rows)
            throw InputError("targets do not have the loss's shape");
        if (weight.shape(0) != 0 && weight.shape(0) != rows)
            throw InputError("weights must have one entry a row");
        std::span<const double> values{target.data(), target.shape(0) * rows};
        std::span<const double> weights{weight.data(), weight.shape(0)};
        if (loss_.softmax())
            for (double value : values)
                if (!(value >= 0 && value < loss_.outputs()))
                    throw InputError("a class number is out of range");
        auto sample = std::make_unique<Sample>(std::move(matrix), values, weights, loss_.outputs());
        return {std::move(target), std::move(weight), std::move(sample)};
    }

    // Asks Python for the values of a tree's leaves.
    static Booster::LeafValues asking(nb::callable minimisers) {
        return [minimisers](std::span<const std::uint16_t> leaf_of_row, std::size_t leaves,
                            std::uint32_t output) {
            nb::gil_scoped_acquire acquire;
            std::uint16_t* data;
            auto array = new_array<std::uint16_t>({leaf_of_row.size()}, &data);
            std::copy(leaf_of_row.begin(), leaf_of_row.end(), data);
            auto values = nb::cast<DoubleArray>(minimisers(array, leaves, output));
            if (values.shape(0) != leaves) throw InputError("one value a leaf is needed");
            return copied(values);
        };
    }

    void put_raw(Sample& sample, const DoubleMatrix& raw) const {
        if (raw.shape(0) != loss_.outputs() || raw.shape(1) != sample.rows())
            throw InputError("raw predictions must have the shape (outputs, rows)");
        std::copy_n(raw.data(), raw.shape(0) * raw.shape(1), sample.raw(0));
    }

    Bins bins_;
    Loss loss_;
    Team team_;
    HeldSample train_;
    HeldSample holdout_;
    Booster booster_;
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
        .def("start", &Fit::start, nb::arg("raw"), nb::arg("holdout_raw") = nb::none(),
             "Raw predictions (outputs, rows) to go on from.")
        .def("start_from", &Fit::start_from, nb::arg("constants"),
             "The same raw prediction for every row, one constant an output.")
        .def("round", &Fit::round, nb::arg("ensemble"), nb::arg("gradients") = nb::none(),
             nb::arg("minimisers") = nb::none(),
             "One tree an output. `gradients` (outputs, rows, 2) replace the loss's own; "
             "`minimisers("
             "leaf_of_row, leaves, output)` then gives the leaves' values unless steps are "
             "Newton's.")
        .def("train_loss", &Fit::train_loss)
        .def("holdout_loss", &Fit::holdout_loss)
        .def("raw", &Fit::raw, nb::arg("holdout") = false)
        .def("timings", &Fit::timings);
}
