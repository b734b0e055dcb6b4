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
     Type::uses_newton_steps,     \
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
    WeightedGroups residuals(1);
    residuals[0].resize(data.rows);
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        const double* f = data.raw + k * data.stride;
        for (std::size_t i = 0; i < data.rows; ++i)
            residuals[0][i] = {std::abs(y[i] - f[i]), data.weight_of(i)};
        double delta = weighted_quantiles(residuals, parameters_[k], *data.reducer)[0];
        deltas_[k] = std::max(delta, 1e-300);
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
    if (data.raw != nullptr) return constants_with_offset(data);
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
            PointGroups points(1);
            for (std::size_t i = 0; i < data.rows; ++i)
                points[0].push_back({y[i], 0.0, data.weight_of(i)});
            // The delta of Huber's loss is unknown before there are residuals. As in Friedman
            // (2001), the median is the start.
            constants[k] = minimise(points, k, *data.reducer)[0];
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
std::vector<double> Loss::constants_with_offset(const LossData& data) const {
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
    PointGroups points(1);
    points[0].resize(data.rows);
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        const double* f = data.raw + k * data.stride;
        for (std::size_t i = 0; i < data.rows; ++i)
            points[0][i] = {y[i], f[i] + constants[k], data.weight_of(i)};
        constants[k] += minimise(points, k, *data.reducer)[0];
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
    PointGroups groups{points_of(data, rows, output)};
    return minimise(groups, output, *data.reducer)[0];
}

std::vector<double> Loss::minimisers(const LossData& data,
                                     std::span<const std::vector<std::uint32_t>> groups,
                                     std::uint32_t output) const {
    PointGroups points;
    for (const auto& rows : groups) points.push_back(points_of(data, rows, output));
    return minimise(points, output, *data.reducer);
}

std::vector<Point> Loss::points_of(const LossData& data, std::span<const std::uint32_t> rows,
                                   std::uint32_t output) const {
    std::vector<Point> points;
    points.reserve(rows.size());
    const double* y = target_of(data, output);
    const double* f = data.raw + output * data.stride;
    for (std::uint32_t row : rows) {
        Point point{y[row], f[row], data.weight_of(row)};
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
    return points;
}

std::vector<double> Loss::minimise(const PointGroups& groups, std::uint32_t output,
                                   Reducer& reducer) const {
    bool first_huber = formula_ == FormulaName::huber && !started_;
    bool by_quantile =
        formula_ == FormulaName::absolute_error || formula_ == FormulaName::quantile || first_huber;
    if (!by_quantile && formula_ != FormulaName::squared_error) {
        ConvexLoss loss{kDerivatives[index_of(formula_)], deltas_[output],
                        traits().scale == RawScale::unitless};
        return best_shifts(groups, loss, reducer);
    }
    WeightedGroups residuals(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k)
        for (const Point& p : groups[k]) residuals[k].push_back({p.y - p.f, p.w});
    if (!by_quantile) return weighted_means(residuals, reducer);
    double level = formula_ == FormulaName::quantile ? parameters_[output] : 0.5;
    return weighted_quantiles(residuals, level, reducer);
}

}  // namespace bosquet
