#include "losses/loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace bosquet {

namespace {

using PointDerivatives = Derivatives (*)(double, double, double);

#define BOSQUET_ENTRY(name, Type) \
    {#name,                       \
     Type::targets,               \
     Type::scale,                 \
     Type::parameter,             \
     Type::curved,                \
     Type::constant_hessian,      \
     Type::increasing_in_parameter},
constexpr LossTraits kTraits[] = {BOSQUET_FORMULAS(BOSQUET_ENTRY)};
#undef BOSQUET_ENTRY
#define BOSQUET_ENTRY(name, Type) Type::derivatives,
constexpr PointDerivatives kDerivatives[] = {BOSQUET_FORMULAS(BOSQUET_ENTRY)};
#undef BOSQUET_ENTRY

template <class Formula>
constexpr double (*constant_of())(double) {
    if constexpr (Formula::constant_from_mean)
        return Formula::constant;
    else
        return nullptr;
}
#define BOSQUET_ENTRY(name, Type) constant_of<Type>(),
constexpr double (*kConstant[])(double) = {BOSQUET_FORMULAS(BOSQUET_ENTRY)};
#undef BOSQUET_ENTRY

FormulaName formula_named(std::string_view name) {
    for (int i = 0; i < static_cast<int>(FormulaName::count); ++i)
        if (kTraits[i].name == name) return static_cast<FormulaName>(i);
    std::string known;
    for (const auto& traits : kTraits)
        known += (known.empty() ? "'" : ", '") + std::string(traits.name) + "'";
    throw InputError("loss='" + std::string(name) + "' is not valid: loss must be one of " + known);
}

constexpr std::uint32_t kMaxOutputs = 1u << 20;

int index_of(FormulaName formula) { return static_cast<int>(formula); }

}  // namespace

std::span<const LossTraits> all_losses() { return kTraits; }

Loss::Loss(std::string_view name, std::uint32_t outputs, std::uint32_t targets,
           std::vector<double> parameters)
    : formula_(formula_named(name)),
      outputs_(outputs),
      targets_(targets),
      softmax_(formula_ == FormulaName::log_loss && outputs > 1),
      parameters_(std::move(parameters)) {
    if (outputs == 0 || outputs > kMaxOutputs)
        throw InputError("outputs=" + std::to_string(outputs) +
                         " is out of range; a loss has 1 to " + std::to_string(kMaxOutputs) +
                         " outputs");
    if (targets != 1 && targets != outputs)
        throw InputError("targets=" + std::to_string(targets) +
                         " must be 1 or the number of outputs (" + std::to_string(outputs) + ")");
    if (softmax_ && targets != 1)
        throw InputError("targets=" + std::to_string(targets) +
                         " must be 1 for the log loss of several classes");
    check_parameters();
    parameters_.resize(outputs, parameters_.empty() ? 0.0 : parameters_.back());
    deltas_ = parameters_;
    order_levels();
}

const LossTraits& Loss::traits() const { return kTraits[index_of(formula_)]; }

void Loss::check_parameters() const {
    std::string name(traits().name);
    if (!traits().has_parameter()) {
        if (!parameters_.empty())
            throw InputError("loss='" + name + "' takes no parameters; pass an empty list");
        return;
    }
    if (parameters_.size() != 1 && parameters_.size() != outputs_)
        throw InputError(
            "parameters has " + std::to_string(parameters_.size()) + " entries, but loss='" + name +
            "' takes one parameter or one per output (" + std::to_string(outputs_) + ")");
    ParameterRange range = traits().parameter;
    for (double parameter : parameters_)
        if (!(range.low < parameter && parameter < range.high))
            throw InputError("the parameter of loss='" + name + "' is " +
                             std::to_string(parameter) + "; it must lie between " +
                             std::to_string(range.low) + " and " + std::to_string(range.high));
}

// Several parameters for one target are levels of its distribution.
void Loss::order_levels() {
    if (!traits().increasing_in_parameter || targets_ != 1 || outputs_ == 1) return;
    by_level_.resize(outputs_);
    std::iota(by_level_.begin(), by_level_.end(), 0u);
    std::stable_sort(by_level_.begin(), by_level_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return parameters_[a] < parameters_[b];
    });
}

void Loss::check_classes(std::span<const double> target) const {
    for (std::size_t i = 0; softmax_ && i < target.size(); ++i)
        if (!(target[i] >= 0 && target[i] < outputs_ && target[i] == std::floor(target[i])))
            throw InputError("the target of row " + std::to_string(i) +
                             " is not a class number; it must be an integer in [0, " +
                             std::to_string(outputs_) + ")");
}

void Loss::start_round(const LossData& data) {
    started_ = true;
    if (formula_ != FormulaName::huber) return;
    std::vector<WeightedValue> residuals(data.rows);
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        const double* f = data.raw + k * data.stride;
        for (std::size_t i = 0; i < data.rows; ++i)
            residuals[i] = {std::abs(y[i] - f[i]), data.weight != nullptr ? data.weight[i] : 1.0};
        deltas_[k] = std::max(weighted_quantile(residuals, parameters_[k]), 1e-300);
    }
}

void Loss::gradients(const LossData& data, Range rows, Isa isa, GradientPair* out) const {
    const LossKernels& kernels = select_loss_kernels(isa);
    const double* weight = data.weight != nullptr ? data.weight + rows.begin : nullptr;
    if (softmax_) {
        kernels.softmax_gradients(data.target + rows.begin, data.raw + rows.begin, weight,
                                  data.stride, outputs_, rows.size(), out + rows.begin);
        return;
    }
    for (std::uint32_t k = 0; k < outputs_; ++k)
        kernels.gradients[index_of(formula_)](
            target_of(data, k) + rows.begin, data.raw + k * data.stride + rows.begin, weight,
            deltas_[k], rows.size(), out + k * data.stride + rows.begin);
}

void Loss::values(const LossData& data, Range rows, Isa isa, double* out) const {
    const LossKernels& kernels = select_loss_kernels(isa);
    const double* weight = data.weight != nullptr ? data.weight + rows.begin : nullptr;
    std::fill_n(out, rows.size(), 0.0);
    if (softmax_) {
        kernels.softmax_values(data.target + rows.begin, data.raw + rows.begin, weight, data.stride,
                               outputs_, rows.size(), out);
        return;
    }
    for (std::uint32_t k = 0; k < outputs_; ++k)
        kernels.values[index_of(formula_)](target_of(data, k) + rows.begin,
                                           data.raw + k * data.stride + rows.begin, weight,
                                           deltas_[k], rows.size(), out);
}

std::size_t Loss::response_size() const {
    return traits().targets == Targets::two_classes && !softmax_ ? 2 * std::size_t{outputs_}
                                                                 : outputs_;
}

void Loss::responses(const double* raw, std::size_t rows, Isa isa, double* out) const {
    const LossKernels& kernels = select_loss_kernels(isa);
    if (softmax_)
        kernels.softmax_responses(raw, outputs_, rows, out);
    else
        kernels.responses[index_of(formula_)](raw, rows * outputs_, out);
    if (!by_level_.empty()) rearrange(rows, out);
}

// Monotone rearrangement (Chernozhukov, Fernandez-Val and Galichon 2010): the predictions of a row,
// sorted, in the order of the levels. The sum of the losses of a row does not increase.
void Loss::rearrange(std::size_t rows, double* responses) const {
    // NaN comes last: std::sort needs an order of all values.
    auto less = [](double a, double b) { return a < b || (b != b && a == a); };
    std::vector<double> sorted(outputs_);
    for (std::size_t row = 0; row < rows; ++row, responses += outputs_) {
        for (std::uint32_t k = 0; k < outputs_; ++k) sorted[k] = responses[by_level_[k]];
        if (std::is_sorted(sorted.begin(), sorted.end(), less)) continue;
        std::sort(sorted.begin(), sorted.end(), less);
        for (std::uint32_t k = 0; k < outputs_; ++k) responses[by_level_[k]] = sorted[k];
    }
}

std::vector<double> Loss::best_constants(const LossData& data) const {
    if (data.raw != nullptr) return constants_beside(data);
    std::vector<double> constants(outputs_);
    if (softmax_) {
        std::vector<double> mass = class_weights(data);
        double total = std::accumulate(mass.begin(), mass.end(), 0.0);
        for (std::uint32_t k = 0; k < outputs_; ++k)
            constants[k] = portable_log(std::max(mass[k] / total, 1e-15));
        double mean = std::accumulate(constants.begin(), constants.end(), 0.0) / outputs_;
        for (double& constant : constants) constant -= mean;
        return constants;
    }
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        if (auto constant = kConstant[index_of(formula_)]) {
            double sum = data.sum([&](std::size_t i) { return data.weight_of(i) * y[i]; });
            constants[k] = constant(sum / data.total_weight());
        } else {
            std::vector<Point> points(data.rows);
            for (std::size_t i = 0; i < data.rows; ++i) points[i] = {y[i], 0.0, data.weight_of(i)};
            // The delta of Huber's loss is unknown before there are residuals. As in Friedman
            // (2001), the median is the start.
            constants[k] = minimise(points, k);
        }
    }
    return constants;
}

// The weight of each class.
std::vector<double> Loss::class_weights(const LossData& data) const {
    FixedUnit unit = fixed_unit(data.largest_weight(), data.all_rows);
    std::vector<std::int64_t> multiples(outputs_);
    for (std::size_t i = 0; i < data.rows; ++i)
        multiples[static_cast<std::size_t>(data.target[i])] +=
            to_multiple(data.weight_of(i), unit.per_unit);
    data.reducer->add(multiples);
    std::vector<double> weights(outputs_);
    for (std::uint32_t k = 0; k < outputs_; ++k) weights[k] = unit.value_of(multiples[k]);
    return weights;
}

// The best constants to add to given raw predictions, such as offsets.
std::vector<double> Loss::constants_beside(const LossData& data) const {
    std::vector<double> constants(outputs_);
    if (traits().scale == RawScale::unitless) {
        // Minus the mean offset, the best constants without offsets are close to those with them.
        // The search has a limited range, so it begins there.
        LossData without = data;
        without.raw = nullptr;
        constants = best_constants(without);
        for (std::uint32_t k = 0; k < outputs_; ++k) {
            const double* raw = data.raw + k * data.stride;
            double sum = data.sum([&](std::size_t i) { return data.weight_of(i) * raw[i]; });
            constants[k] -= sum / data.total_weight();
        }
    }
    if (softmax_) {
        scale_classes(data, constants);
        return constants;
    }
    std::vector<Point> points(data.rows);
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        const double* f = data.raw + k * data.stride;
        for (std::size_t i = 0; i < data.rows; ++i)
            points[i] = {y[i], f[i] + constants[k], data.weight_of(i)};
        constants[k] += minimise(points, k);
    }
    return constants;
}

// Iterative scaling: each constant is increased by the logarithm of the weight of its class divided
// by the sum of its probabilities. At the minimum both are equal. The loss never increases (Darroch
// and Ratcliff 1972).
void Loss::scale_classes(const LossData& data, std::vector<double>& constants) const {
    constexpr int kMaxPasses = 200;
    constexpr double kTolerance = 1e-10;
    std::vector<double> seen = class_weights(data), row(outputs_);
    FixedUnit unit = fixed_unit(data.largest_weight(), data.all_rows);
    std::vector<std::int64_t> expected(outputs_);  // multiples of the unit
    for (int pass = 0; pass < kMaxPasses; ++pass) {
        std::fill(expected.begin(), expected.end(), 0);
        for (std::size_t i = 0; i < data.rows; ++i) {
            double w = data.weight_of(i);
            double top = -1e300, total = 0;
            for (std::uint32_t k = 0; k < outputs_; ++k) {
                row[k] = data.raw[k * data.stride + i] + constants[k];
                top = std::max(top, row[k]);
            }
            for (double& f : row) {
                f = portable_exp(f - top);
                total += f;
            }
            for (std::uint32_t k = 0; k < outputs_; ++k)
                expected[k] += to_multiple(w * row[k] / total, unit.per_unit);
        }
        data.reducer->add(expected);
        double largest = 0;
        for (std::uint32_t k = 0; k < outputs_; ++k) {
            if (!(seen[k] > 0 && expected[k] > 0)) continue;  // the best constant is infinite
            double step = portable_log(seen[k] / unit.value_of(expected[k]));
            constants[k] += step;
            largest = std::max(largest, std::abs(step));
        }
        if (largest <= kTolerance) break;
    }
    double mean = std::accumulate(constants.begin(), constants.end(), 0.0) / outputs_;
    for (double& constant : constants) constant -= mean;
}

double Loss::minimiser(const LossData& data, std::span<const std::uint32_t> rows,
                       std::uint32_t output) const {
    if (rows.empty()) return 0;
    std::vector<Point> points;
    points.reserve(rows.size());
    const double* y = target_of(data, output);
    const double* f = data.raw + output * data.stride;
    for (std::uint32_t row : rows) {
        Point point{y[row], f[row], data.weight != nullptr ? data.weight[row] : 1.0};
        if (softmax_) {
            // With the other outputs fixed, class k against the rest is a two-class problem with
            // the raw score f_k - log(sum of e^f over the other classes).
            double top = -1e300, total = 0;
            for (std::uint32_t k = 0; k < outputs_; ++k)
                if (k != output) top = std::max(top, data.raw[k * data.stride + row]);
            for (std::uint32_t k = 0; k < outputs_; ++k)
                if (k != output) total += portable_exp(data.raw[k * data.stride + row] - top);
            point.y = data.target[row] == static_cast<double>(output) ? 1.0 : 0.0;
            point.f = f[row] - top - portable_log(total);
        }
        points.push_back(point);
    }
    return minimise(points, output);
}

double Loss::minimise(std::vector<Point>& points, std::uint32_t output) const {
    bool first_huber = formula_ == FormulaName::huber && !started_;
    if (formula_ == FormulaName::absolute_error || formula_ == FormulaName::quantile ||
        first_huber) {
        std::vector<WeightedValue> residuals(points.size());
        for (std::size_t i = 0; i < points.size(); ++i)
            residuals[i] = {points[i].y - points[i].f, points[i].w};
        double level = formula_ == FormulaName::quantile ? parameters_[output] : 0.5;
        return weighted_quantile(residuals, level);
    }
    if (formula_ == FormulaName::squared_error) {
        auto term = [&](std::size_t i) { return points[i].w * (points[i].y - points[i].f); };
        auto weight = [&](std::size_t i) { return points[i].w; };
        double total = fixed_sum(points.size(), weight, points.size(), single_part());
        return total > 0 ? fixed_sum(points.size(), term, points.size(), single_part()) / total
                         : 0.0;
    }
    return search(points, output);
}

// The unit of the tolerance of the search: steps below 1e-12 are ignored, except if the residuals
// themselves are small.
double Loss::tolerance_unit(const std::vector<Point>& points) {
    double largest = 0;
    for (const Point& p : points) largest = std::max(largest, std::abs(p.y - p.f));
    return largest > 0 && largest < 0x1p-10 ? largest : 1;
}

// The loss is convex in c. The sign change of its derivative is bracketed, then refined by Newton
// steps, with a bisection where a Newton step would leave the bracket.
double Loss::search(const std::vector<Point>& points, std::uint32_t output) const {
    PointDerivatives derivatives = kDerivatives[index_of(formula_)];
    double parameter = deltas_[output];
    std::vector<Derivatives> terms(points.size());
    auto derivatives_at = [&](double c) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Point& p = points[i];
            Derivatives d = derivatives(p.y, p.f + c, parameter);
            terms[i] = {p.w * d.g, p.w * d.h};
        }
        auto g = [&](std::size_t i) { return terms[i].g; };
        auto h = [&](std::size_t i) { return terms[i].h; };
        return Derivatives{fixed_sum(terms.size(), g, terms.size(), single_part()),
                           fixed_sum(terms.size(), h, terms.size(), single_part())};
    };
    double start = derivatives_at(0).g;
    if (start == 0) return 0;
    double unit = traits().scale == RawScale::target ? tolerance_unit(points) : 1;
    double low = 0, high = 0, distance = unit;
    // A leaf with a single class has its minimum at infinity; 2^5 is large enough for a
    // probability.
    double max_distance = traits().scale == RawScale::unitless ? 32 : 1e300;
    double& moving = start > 0 ? low : high;
    while (distance <= max_distance) {
        moving = start > 0 ? -distance : distance;
        double g = derivatives_at(moving).g;
        if (start > 0 ? g <= 0 : g >= 0) break;
        distance *= 2;
    }
    if (distance > max_distance) return moving;
    double c = 0, width = 2 * (high - low);
    for (int step = 0; step < 200; ++step) {
        Derivatives sum = derivatives_at(c);
        if (sum.g == 0) break;
        (sum.g > 0 ? high : low) = c;
        double newton = sum.h > 0 ? c - sum.g / sum.h : low;
        // A Newton step is taken if it stays inside the bracket and the bracket halves every other
        // step. Where the loss is linear, Newton steps are short and would hardly converge.
        bool slow = step % 2 == 1 && high - low > width / 2;
        if (step % 2 == 1) width = high - low;
        double next = newton > low && newton < high && !slow ? newton : low + (high - low) / 2;
        double step_size = std::abs(next - c);
        c = next;
        if (step_size <= 1e-12 * (unit + std::abs(c))) break;
    }
    return c;
}

double weighted_quantile(std::vector<WeightedValue>& values, double level) {
    if (values.empty()) return 0;
    for (const WeightedValue& v : values)  // sorting needs values that can be ordered, so no NaN
        if (v.value != v.value || v.weight != v.weight)
            throw InputError(
                "a residual is NaN because targets or predictions are too large; rescale the "
                "targets");
    std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    auto weight = [&](std::size_t i) { return values[i].weight; };
    FixedUnit unit =
        fixed_unit(largest_magnitude(values.size(), weight, single_part()), values.size());
    std::int64_t total = 0, below = 0;
    for (const WeightedValue& v : values) total += to_multiple(v.weight, unit.per_unit);
    double goal = level * static_cast<double>(total);
    for (std::size_t i = 0; i < values.size(); ++i) {
        below += to_multiple(values[i].weight, unit.per_unit);
        auto share = static_cast<double>(below);
        // If the goal is met exactly, every value up to the next one is a minimiser: return the
        // midpoint.
        if (share == goal && i + 1 < values.size())
            return values[i].value / 2 + values[i + 1].value / 2;
        if (share > goal) return values[i].value;
    }
    return values.back().value;
}

}  // namespace bosquet
