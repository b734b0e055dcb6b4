// Integral images, values of Haar features, and the search for the best stump over all of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "parallel/team.hpp"
#include "vision/features.hpp"
#include "vision/haar_search.hpp"
#include "vision/integral.hpp"
#include "vision/planes.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

using WindowArray = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ByteArray = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RectangleArray =
    nb::ndarray<const std::int32_t, nb::shape<-1, 3, 4>, nb::c_contig, nb::device::cpu>;
using WeightArray = nb::ndarray<const float, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<nb::numpy, std::int64_t>;
using Floats = nb::ndarray<nb::numpy, float>;

constexpr std::size_t kMaxPixels = std::size_t{1}
                                   << 20;  // per window; offsets of pixels have 32 bits
constexpr std::size_t kMaxWindows = (std::size_t{1} << 31) - 1;
// Number of windows whose planes are in memory at the same time.
constexpr std::size_t kBlockWindows = 1024;

WindowStack stack_of(const WindowArray& windows) {
    WindowStack stack{windows.data(), windows.shape(0), {windows.shape(2), windows.shape(1)}};
    if (stack.size.width < 3 || stack.size.height < 3)
        throw InputError("windows have " + std::to_string(stack.size.width) + " x " +
                         std::to_string(stack.size.height) + " pixels, but need at least 3 x 3");
    if (stack.size.width > kMaxPixels || stack.size.height > kMaxPixels ||
        stack.size.width * stack.size.height > kMaxPixels)
        throw InputError("windows have " + std::to_string(stack.size.width) + " x " +
                         std::to_string(stack.size.height) +
                         " pixels, but at most 2^20 pixels are supported");
    check_at_most(stack.count, kMaxWindows, "windows");
    return stack;
}

std::vector<HaarFeature> features_of(const RectangleArray& rectangles, const WeightArray& weights,
                                     const ByteArray& tilted, WindowSize window) {
    std::size_t count = rectangles.shape(0);
    if (weights.shape(0) != count || tilted.shape(0) != count)
        throw InputError(
            "rectangles, weights and tilted must have the same length, one entry per feature");
    std::vector<HaarFeature> features(count);
    for (std::size_t f = 0; f < count; ++f) {
        for (int k = 0; k < HaarFeature::kRectangles; ++k) {
            const std::int32_t* r = rectangles.data() + (f * 3 + k) * 4;
            features[f].rectangle[k] = {r[0], r[1], r[2], r[3]};
            features[f].weight[k] = weights.data()[f * 3 + k];
        }
        features[f].tilted = tilted.data()[f] != 0;
    }
    check_features(features, window);
    return features;
}

Sums integral_image(WindowArray images, const std::string& kind) {
    if (kind != "plain" && kind != "squared" && kind != "tilted")
        throw InputError("kind='" + kind + "' is unknown; pass 'plain', 'squared' or 'tilted'");
    std::size_t count = images.shape(0), height = images.shape(1), width = images.shape(2);
    if (height == 0 || width == 0)
        throw InputError("images has shape " + shape_text(images) +
                         "; images need at least one pixel");
    std::int64_t* out;
    Sums result = new_array<std::int64_t>({count, height + 1, width + 1}, &out);
    LongCall call;
    for (std::size_t i = 0; i < count; ++i, out += (height + 1) * (width + 1)) {
        check_interrupt(4 * height * width);
        GreyImage image{images.data() + i * height * width, width, height,
                        static_cast<std::ptrdiff_t>(width)};
        if (kind == "plain")
            integrate(image, out, width + 1);
        else if (kind == "squared")
            integrate_squares(image, out, width + 1);
        else
            integrate_tilted(image, out, width + 1);
    }
    return result;
}

std::tuple<Floats, nb::ndarray<nb::numpy, bool>> window_contrasts(WindowArray windows,
                                                                  int threads) {
    WindowStack stack = stack_of(windows);
    float* factor;
    bool* flat;
    Floats factors = new_array<float>({stack.count}, &factor);
    auto flats = new_array<bool>({stack.count}, &flat);
    LongCall call;
    Team team(threads);
    std::vector<WindowContrast> contrasts = contrasts_of(stack, team);
    for (std::size_t i = 0; i < stack.count; ++i) {
        factor[i] = contrasts[i].factor;
        flat[i] = contrasts[i].is_flat;
    }
    return {factors, flats};
}

// Values of shape (n_features, n_windows), computed in blocks of windows to save memory.
Floats haar_values(WindowArray windows, RectangleArray rectangles, WeightArray weights,
                   ByteArray tilted, bool normalise, const std::string& isa, int threads) {
    WindowStack stack = stack_of(windows);
    std::vector<HaarFeature> features = features_of(rectangles, weights, tilted, stack.size);
    const HaarTrainingKernels& kernels = select_haar_training_kernels(parse_isa(isa));
    bool any_tilted = false;
    for (const HaarFeature& feature : features) any_tilted = any_tilted || feature.tilted;
    float* out;
    Floats result = new_array<float>({features.size(), stack.count}, &out);
    LongCall call;
    Team team(threads);
    for (std::size_t first = 0; first < stack.count; first += kBlockWindows) {
        std::vector<std::uint32_t> block;
        for (std::size_t i = first; i < std::min(first + kBlockWindows, stack.count); ++i)
            block.push_back(static_cast<std::uint32_t>(i));
        WindowPlanes planes(stack, block, any_tilted, normalise, team);
        team.run(features.size(), [&](std::size_t f, int) {
            kernels.values(planes.corners(features[f]), planes.factors(), planes.count(),
                           out + f * stack.count + first);
        });
    }
    return result;
}

StumpCriterion criterion_of(const std::string& name) {
    if (name == "error") return StumpCriterion::error;
    if (name == "exponential") return StumpCriterion::exponential;
    if (name == "squared") return StumpCriterion::squared;
    throw InputError("criterion='" + name +
                     "' is unknown; pass 'error', 'exponential' or 'squared'");
}

// A HaarSearch with its own threads.
class ThreadedSearch {
  public:
    ThreadedSearch(WindowArray windows, ByteArray positive, RectangleArray rectangles,
                   WeightArray weights, ByteArray tilted, bool normalise, std::size_t bytes,
                   const std::string& isa, int threads)
        : team_(threads) {
        WindowStack stack = stack_of(windows);
        if (stack.count == 0) throw InputError("windows is empty; at least one window is needed");
        check_length(positive.shape(0), stack.count, "positive", "window");
        std::vector<HaarFeature> features = features_of(rectangles, weights, tilted, stack.size);
        if (features.empty())
            throw InputError("rectangles is empty; at least one feature is needed");
        Isa chosen = parse_isa(isa);
        LongCall call;
        search_.emplace(stack, std::span(positive.data(), stack.count), std::move(features),
                        normalise, bytes, chosen, team_);
    }

    std::size_t kept() const { return search_->kept(); }
    std::size_t rows() const { return search_->rows(); }
    std::size_t features() const { return search_->features(); }

    std::tuple<std::size_t, float, double, double, double, double> find_best(
        DoubleArray weight, const std::string& name) {
        StumpCriterion criterion = criterion_of(name);
        check_length(weight.shape(0), rows(), "weights", "window");
        HaarStump stump;
        {
            LongCall call;
            std::scoped_lock lock(in_use_);
            stump = search_->find_best({weight.data(), weight.shape(0)}, criterion);
        }
        return {stump.feature, stump.threshold,       stump.left,
                stump.right,   stump.criterion_value, stump.gain};
    }

    Floats values(std::size_t feature) {
        check_index(feature, features(), "feature");
        float* out;
        Floats result = new_array<float>({rows()}, &out);
        LongCall call;
        std::scoped_lock lock(in_use_);
        search_->values(feature, out);
        return result;
    }

  private:
    Team team_;
    std::optional<HaarSearch> search_;
    std::mutex in_use_;  // another Python thread may call at the same time
};

}  // namespace

void bind_vision_features(nb::module_& module) {
    module.def("integral_image", integral_image, nb::arg("images"), nb::arg("kind"),
               "Return the integral images ('plain', 'squared' or 'tilted') of a stack of grey "
               "images, shape (n, height + 1, width + 1).");
    module.def("window_contrasts", window_contrasts, nb::arg("windows"), nb::arg("threads") = 1,
               "Return for each window the factor that normalises its features, and whether "
               "OpenCV's detector rejects it as flat.");
    module.def("haar_values", haar_values, nb::arg("windows"), nb::arg("rectangles"),
               nb::arg("weights"), nb::arg("tilted"), nb::arg("normalise"), nb::arg("isa"),
               nb::arg("threads") = 1,
               "Return the values of Haar features, shape (n_features, n_windows).");
    nb::class_<ThreadedSearch>(
        module, "HaarSearch",
        "Windows that are prepared once and searched for the best stump in every round.")
        .def(nb::init<WindowArray, ByteArray, RectangleArray, WeightArray, ByteArray, bool,
                      std::size_t, const std::string&, int>(),
             nb::arg("windows"), nb::arg("positive"), nb::arg("rectangles"), nb::arg("weights"),
             nb::arg("tilted"), nb::arg("normalise"), nb::arg("bytes"), nb::arg("isa"),
             nb::arg("threads"))
        .def_prop_ro("n_rows", &ThreadedSearch::rows)
        .def_prop_ro("n_features", &ThreadedSearch::features)
        .def_prop_ro("n_kept", &ThreadedSearch::kept,
                     "Number of features whose codes are kept in memory.")
        .def("find_best", &ThreadedSearch::find_best, nb::arg("weight"), nb::arg("criterion"),
             "Return feature, threshold, prediction below the threshold, prediction from the "
             "threshold on, criterion value and gain of the stump that minimises 'error', "
             "'exponential' or 'squared' loss.")
        .def("values", &ThreadedSearch::values, nb::arg("feature"),
             "Return the values of a feature for all windows.");
}
