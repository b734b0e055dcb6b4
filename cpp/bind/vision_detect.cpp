#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bind/bindings.hpp"
#include "bind/checks.hpp"
#include "bind/long_call.hpp"
#include "bind/options.hpp"
#include "vision/detect.hpp"

namespace nb = nanobind;
using namespace bosquet;

namespace {

template <class T, std::size_t kDimensions>
using Array = nb::ndarray<const T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
using Grey = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;

template <class T>
std::vector<T> copy_to_vector(const Array<T, 1>& array) {
    return {array.data(), array.data() + array.size()};
}

std::vector<CascadeFeature> features_of(const Array<std::int32_t, 3>& rectangles,
                                        const Array<float, 2>& weights,
                                        const Array<std::uint8_t, 1>& tilted) {
    std::size_t count = rectangles.shape(0);
    if (rectangles.shape(1) != kBoxes || rectangles.shape(2) != 4 || weights.shape(0) != count ||
        weights.shape(1) != kBoxes || tilted.size() != count)
        throw InputError("rectangles has shape " + shape_text(rectangles) + ", weights " +
                         shape_text(weights) + " and tilted " + shape_text(tilted) +
                         ", but they must have shapes (n, 3, 4), (n, 3) and (n,)");
    std::vector<CascadeFeature> features(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t b = 0; b < kBoxes; ++b) {
            const std::int32_t* box = rectangles.data() + (i * kBoxes + b) * 4;
            features[i].box[b] = {box[0], box[1], box[2], box[3]};
            features[i].weight[b] = weights.data()[i * kBoxes + b];
        }
        features[i].tilted = tilted.data()[i] != 0;
    }
    return features;
}

CascadeModel model_of(std::int32_t width, std::int32_t height,
                      const Array<std::int32_t, 3>& rectangles, const Array<float, 2>& weights,
                      const Array<std::uint8_t, 1>& tilted, const Array<std::int32_t, 1>& feature,
                      const Array<float, 1>& threshold, const Array<std::int32_t, 1>& left,
                      const Array<std::int32_t, 1>& right, const Array<float, 1>& leaves,
                      const Array<std::uint32_t, 1>& tree_size,
                      const Array<std::uint32_t, 1>& stage_size,
                      const Array<float, 1>& stage_threshold) {
    CascadeModel model;
    model.width = width;
    model.height = height;
    model.features = features_of(rectangles, weights, tilted);
    std::size_t nodes = feature.size();
    if (threshold.size() != nodes || left.size() != nodes || right.size() != nodes)
        throw InputError(
            "feature, threshold, left and right must have the same length, one entry per node");
    for (std::size_t i = 0; i < nodes; ++i)
        model.nodes.push_back({static_cast<std::uint32_t>(feature.data()[i]), threshold.data()[i],
                               left.data()[i], right.data()[i]});
    model.leaves = copy_to_vector(leaves);
    model.tree_size = copy_to_vector(tree_size);
    model.stage_size = copy_to_vector(stage_size);
    model.stage_threshold = copy_to_vector(stage_threshold);
    return model;
}

GreyImage image_of(const Grey& image) {
    if (image.shape(0) == 0 || image.shape(1) == 0 || image.stride(1) != 1 ||
        image.shape(0) > 1u << 16 || image.shape(1) > 1u << 16)
        throw InputError("image has shape " + shape_text(image) +
                         "; it must have 1 to 65536 rows and columns, and the pixels of a row must "
                         "be contiguous");
    return {image.data(), image.shape(1), image.shape(0), image.stride(0)};
}

// The largest accepted coordinate or size in pixels, so that sums of several fit into 32 bits.
constexpr double kMaxCoordinate = 1 << 24;
constexpr double kMaxTolerance = 100;  // in sides of a window

ScanOptions options_of(const nb::dict& given) {
    Options options(given);
    ScanOptions scan;
    std::string isa = "auto";
    options.take("scale_factor", scan.scale_factor);
    options.take("min_width", scan.min_width, 0, kMaxCoordinate);
    options.take("min_height", scan.min_height, 0, kMaxCoordinate);
    options.take("max_width", scan.max_width, 0, kMaxCoordinate);
    options.take("max_height", scan.max_height, 0, kMaxCoordinate);
    options.take("min_depth", scan.min_depth);
    options.take("threads", scan.threads);
    options.take("isa", isa);
    options.reject_unknown();
    if (!(scan.scale_factor > 1 && scan.scale_factor < kInfinity))
        throw InputError("scale_factor=" + std::to_string(scan.scale_factor) +
                         " is not valid: scale_factor must be a finite number > 1");
    scan.isa = parse_isa(isa);
    return scan;
}

nb::tuple as_arrays(const std::vector<Detection>& detections) {
    std::int32_t *boxes, *neighbors, *depth;
    double* sum;
    auto box_array = new_array<std::int32_t>({detections.size(), 4}, &boxes);
    auto neighbor_array = new_array<std::int32_t>({detections.size()}, &neighbors);
    auto depth_array = new_array<std::int32_t>({detections.size()}, &depth);
    auto sum_array = new_array<double>({detections.size()}, &sum);
    for (std::size_t i = 0; i < detections.size(); ++i) {
        const Box& box = detections[i].box;
        std::int32_t sides[4] = {box.x, box.y, box.width, box.height};
        std::copy(sides, sides + 4, boxes + 4 * i);
        neighbors[i] = detections[i].neighbors;
        depth[i] = static_cast<std::int32_t>(detections[i].depth);
        sum[i] = detections[i].sum;
    }
    return nb::make_tuple(box_array, neighbor_array, depth_array, sum_array);
}

nb::tuple detect(const Detector& detector, const Grey& pixels, std::int32_t min_neighbors,
                 double tolerance, nb::dict given, bool cut) {
    ScanOptions options = options_of(given);
    check_between(tolerance, 0, kMaxTolerance, "tolerance");
    GreyImage image = image_of(pixels);
    std::vector<Detection> found;
    {
        LongCall call;
        Scan scan = detector.scan(image, options);
        for (const Hit& hit : scan.hits)
            found.push_back(window_of(detector.model(), scan.layers[hit.layer], hit));
        found = group_windows(found, min_neighbors, tolerance);
        // Rounding may have moved a side one pixel outside the image.
        for (std::size_t i = 0; cut && i < found.size(); ++i) {
            Box& box = found[i].box;
            box.width = std::min(box.width, static_cast<std::int32_t>(image.width) - box.x);
            box.height = std::min(box.height, static_cast<std::int32_t>(image.height) - box.y);
        }
    }
    return as_arrays(found);
}

nb::tuple group(const Array<std::int32_t, 2>& boxes, const Array<std::int32_t, 1>& depth,
                const Array<double, 1>& sum, std::int32_t min_neighbors, double tolerance) {
    std::size_t count = boxes.shape(0);
    if (boxes.shape(1) != 4 || depth.size() != count || sum.size() != count)
        throw InputError("boxes must have shape (n, 4), depth and sum shape (n,)");
    check_between(tolerance, 0, kMaxTolerance, "tolerance");
    for (std::size_t i = 0; i < boxes.size(); ++i)
        check_between(boxes.data()[i], -kMaxCoordinate, kMaxCoordinate, "a coordinate of boxes");
    std::vector<Detection> windows;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t* box = boxes.data() + 4 * i;
        windows.push_back({{box[0], box[1], box[2], box[3]},
                           1,
                           static_cast<std::uint32_t>(depth.data()[i]),
                           sum.data()[i]});
    }
    {
        LongCall call;
        windows = group_windows(windows, min_neighbors, tolerance);
    }
    return as_arrays(windows);
}

nb::tuple scan(const Detector& detector, const Grey& pixels, nb::dict given) {
    ScanOptions options = options_of(given);
    GreyImage image = image_of(pixels);
    Scan result;
    {
        LongCall call;
        result = detector.scan(image, options);
    }
    std::int32_t *sizes, *positions;
    auto size_array = new_array<std::int32_t>({result.layers.size(), 2}, &sizes);
    for (std::size_t i = 0; i < result.layers.size(); ++i) {
        sizes[2 * i] = result.layers[i].width;
        sizes[2 * i + 1] = result.layers[i].height;
    }
    auto position_array = new_array<std::int32_t>({result.hits.size(), 3}, &positions);
    for (std::size_t i = 0; i < result.hits.size(); ++i) {
        const Hit& hit = result.hits[i];
        positions[3 * i] = static_cast<std::int32_t>(hit.layer);
        positions[3 * i + 1] = hit.x;
        positions[3 * i + 2] = hit.y;
    }
    return nb::make_tuple(size_array, position_array, result.visited);
}

nb::tuple depths(const Detector& detector, const Array<std::uint8_t, 3>& images, int threads,
                 const std::string& isa) {
    if (images.shape(1) != static_cast<std::size_t>(detector.model().height) ||
        images.shape(2) != static_cast<std::size_t>(detector.model().width))
        throw InputError("images has shape " + shape_text(images) + ", but must have shape (n, " +
                         std::to_string(detector.model().height) + ", " +
                         std::to_string(detector.model().width) +
                         "), the window size of the cascade");
    std::int32_t* depth;
    double* sum;
    auto depth_array = new_array<std::int32_t>({images.shape(0)}, &depth);
    auto sum_array = new_array<double>({images.shape(0)}, &sum);
    Isa chosen = parse_isa(isa);
    {
        LongCall call;
        detector.depths(images.data(), images.shape(0), threads, chosen, depth, sum);
    }
    return nb::make_tuple(depth_array, sum_array);
}

nb::ndarray<nb::numpy, std::uint8_t> resize_image(const Grey& pixels, std::int32_t width,
                                                  std::int32_t height) {
    GreyImage image = image_of(pixels);
    if (width < 1 || height < 1 || width > 1 << 16 || height > 1 << 16)
        throw InputError("width=" + std::to_string(width) +
                         " and height=" + std::to_string(height) +
                         " are not valid: both must be integers in [1, 65536]");
    std::uint8_t* out;
    auto array = new_array<std::uint8_t>(
        {static_cast<std::size_t>(height), static_cast<std::size_t>(width)}, &out);
    LongCall call;
    const DetectKernels& kernels = select_detect_kernels(best_isa());
    Resampling across(static_cast<std::int32_t>(image.width), width);
    Resampling down(static_cast<std::int32_t>(image.height), height);
    std::vector<std::uint16_t> blended(image.width + 2);
    for (std::int32_t y = 0; y < height; ++y)
        resize_row(image, across, down, y, kernels, blended.data(),
                   out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width));
    return array;
}

}  // namespace

void bind_vision_detect(nb::module_& module) {
    nb::class_<Detector>(module, "Detector", "A cascade that is ready to detect objects in images.")
        .def(
            "__init__",
            [](Detector* self, std::int32_t width, std::int32_t height,
               const Array<std::int32_t, 3>& rectangles, const Array<float, 2>& weights,
               const Array<std::uint8_t, 1>& tilted, const Array<std::int32_t, 1>& feature,
               const Array<float, 1>& threshold, const Array<std::int32_t, 1>& left,
               const Array<std::int32_t, 1>& right, const Array<float, 1>& leaves,
               const Array<std::uint32_t, 1>& tree_size, const Array<std::uint32_t, 1>& stage_size,
               const Array<float, 1>& stage_threshold) {
                new (self) Detector(model_of(width, height, rectangles, weights, tilted, feature,
                                             threshold, left, right, leaves, tree_size, stage_size,
                                             stage_threshold));
            },
            nb::arg("width"), nb::arg("height"), nb::arg("rectangles"), nb::arg("weights"),
            nb::arg("tilted"), nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
            nb::arg("right"), nb::arg("leaves"), nb::arg("tree_size"), nb::arg("stage_size"),
            nb::arg("stage_threshold"))
        .def("detect", detect, nb::arg("image"), nb::arg("min_neighbors"), nb::arg("tolerance"),
             nb::arg("options"), nb::arg("cut") = true,
             "Return the detections: boxes (n, 4), clipped at the border of the image if `cut`; "
             "the number of windows grouped into each box; the number of stages that the best of "
             "these windows passed; and the sum of its last stage.")
        .def("scan", scan, nb::arg("image"), nb::arg("options"),
             "Return the sizes of the layers of the image pyramid, (layer, x, y) of the windows "
             "that pass, and the number of windows that were evaluated.")
        .def("depths", depths, nb::arg("images"), nb::arg("threads") = 1, nb::arg("isa") = "auto",
             "Return how many stages each image passes (-1 for a flat image) and the sum of its "
             "last stage.");
    module.def("group_windows", group, nb::arg("boxes"), nb::arg("depth"), nb::arg("sum"),
               nb::arg("min_neighbors"), nb::arg("tolerance"),
               "Group windows around the same object; return the same arrays as Detector.detect.");
    module.def("resize_image", resize_image, nb::arg("image"), nb::arg("width"), nb::arg("height"),
               "Resize a grey image as OpenCV does with INTER_LINEAR_EXACT.");
}
