#include "losses/loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace bosquet {

namespace {

using PointDerivatives = Derivatives (*)(double, double, double);

#define BOSQUET_ENTRY(name, Type) \
    {#name, Type::targets, Type::scale, Type::parameter, Type::curved, Type::constant_hessian},
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
    throw InputError("unknown loss '" + std::string(name) + "'");
}

constexpr std::uint32_t kMostOutputs = 1u << 20;

int number(FormulaName formula) { return static_cast<int>(formula); }

}  // namespace

std::span<const LossTraits> all_losses() { return kTraits; }

Loss::Loss(std::string_view name, std::uint32_t outputs, std::uint32_t targets,
           std::vector<double> parameters)
    : formula_(formula_named(name)),
      outputs_(outputs),
      targets_(targets),
      softmax_(formula_ == FormulaName::log_loss && outputs > 1),
      parameters_(std::move(parameters)) {
    if (outputs == 0 || outputs > kMostOutputs)
        throw InputError("a loss has 1 to " + std::to_string(kMostOutputs) + " outputs, not " +
                         std::to_string(outputs));
    if (targets != 1 && targets != outputs)
        throw InputError("a loss has one target, or one for each output");
    if (softmax_ && targets != 1)
        throw InputError("the log loss of several classes has one target");
    check_parameters();
    parameters_.resize(outputs, parameters_.empty() ? 0.0 : parameters_.back());
    deltas_ = parameters_;
}

const LossTraits& Loss::traits() const { return kTraits[number(formula_)]; }

void Loss::check_parameters() const {
    std::string name(traits().name);
    if (!traits().has_parameter()) {
        if (!parameters_.empty()) throw InputError("loss '" + name + "' has no parameter");
        return;
    }
    if (parameters_.size() != 1 && parameters_.size() != outputs_)
        throw InputError("loss '" + name + "' takes one parameter, or one for each output");
    ParameterRange range = traits().parameter;
    for (double parameter : parameters_)
        if (!(range.low < parameter && parameter < range.high))
            throw InputError("the parameter of loss '" + name + "' is " +
                             std::to_string(parameter) + "; it must lie between " +
                             std::to_string(range.low) + " and " + std::to_string(range.high));
}

void Loss::check_classes(std::span<const double> target) const {
    for (std::size_t i = 0; softmax_ && i < target.size(); ++i)
        if (!(target[i] >= 0 && target[i] < outputs_ && target[i] == std::floor(target[i])))
            throw InputError("the target of row " + std::to_string(i) +
                             " is not the number of one of the " + std::to_string(outputs_) +
                             " classes");
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
        kernels.gradients[number(formula_)](
            target_of(data, k) + rows.begin, data.raw + k * data.stride + rows.begin, weight,
            deltas_[k], rows.size(), out + k * data.stride + rows.begin);
}

double Loss::value(const LossData& data, Range rows, Isa isa) const {
    const LossKernels& kernels = select_loss_kernels(isa);
    const double* weight = data.weight != nullptr ? data.weight + rows.begin : nullptr;
    if (softmax_)
        return kernels.softmax_value(data.target + rows.begin, data.raw + rows.begin, weight,
                                     data.stride, outputs_, rows.size());
    double sum = 0;
    for (std::uint32_t k = 0; k < outputs_; ++k)
        sum += kernels.values[number(formula_)](target_of(data, k) + rows.begin,
                                                data.raw + k * data.stride + rows.begin, weight,
                                                deltas_[k], rows.size());
    return sum;
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
        kernels.responses[number(formula_)](raw, rows * outputs_, out);
}

std::vector<double> Loss::best_constants(const LossData& data) const {
    auto weight = [&](std::size_t i) { return data.weight != nullptr ? data.weight[i] : 1.0; };
    std::vector<double> constants(outputs_);
    if (softmax_) {
        std::vector<double> mass(outputs_);
        for (std::size_t i = 0; i < data.rows; ++i)
            mass[static_cast<std::size_t>(data.target[i])] += weight(i);
        double total = std::accumulate(mass.begin(), mass.end(), 0.0);
        for (std::uint32_t k = 0; k < outputs_; ++k)
            constants[k] = exact_log(std::max(mass[k] / total, 1e-15));
        double mean = std::accumulate(constants.begin(), constants.end(), 0.0) / outputs_;
        for (double& constant : constants) constant -= mean;
        return constants;
    }
    for (std::uint32_t k = 0; k < outputs_; ++k) {
        const double* y = target_of(data, k);
        if (auto constant = kConstant[number(formula_)]) {
            double sum = 0, total = 0;
            for (std::size_t i = 0; i < data.rows; ++i) {
                sum += weight(i) * y[i];
                total += weight(i);
            }
            constants[k] = constant(sum / total);
        } else {
            std::vector<Point> points(data.rows);
            for (std::size_t i = 0; i < data.rows; ++i) points[i] = {y[i], 0.0, weight(i)};
            // Huber's delta is not known before there are residuals: Friedman starts from the
            // median.
            constants[k] = minimise(points, k);
        }
    }
    return constants;
}

double Loss::minimiser(const LossData& data, std::span<const std::uint32_t> rows,
                       std::uint32_t output) const {
    std::vector<Point> points;
    points.reserve(rows.size());
    const double* y = target_of(data, output);
    const double* f = data.raw + output * data.stride;
    for (std::uint32_t row : rows) {
        Point point{y[row], f[row], data.weight != nullptr ? data.weight[row] : 1.0};
        if (softmax_) {
            // With the other outputs held, class k against the rest is a two-class problem whose
            // raw score is f_k - log sum of the others' e^f.
            double top = -1e300, total = 0;
            for (std::uint32_t k = 0; k < outputs_; ++k)
                if (k != output) top = std::max(top, data.raw[k * data.stride + row]);
            for (std::uint32_t k = 0; k < outputs_; ++k)
                if (k != output) total += exact_exp(data.raw[k * data.stride + row] - top);
            point.y = data.target[row] == static_cast<double>(output) ? 1.0 : 0.0;
            point.f = f[row] - top - exact_log(total);
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
        double sum = 0, total = 0;
        for (const Point& p : points) {
            sum += p.w * (p.y - p.f);
            total += p.w;
        }
        return total > 0 ? sum / total : 0.0;
    }
    return search(points, output);
}

// A step of 1e-12 is as good as none, but not where the residuals themselves are that small.
double Loss::unit_of(const std::vector<Point>& points) {
    double largest = 0;
    for (const Point& p : points) largest = std::max(largest, std::abs(p.y - p.f));
    return largest > 0 && largest < 0x1p-10 ? largest : 1;
}

// The loss is convex in c: its derivative's sign change is bracketed, then Newton steps close in,
// with a bisection wherever one would leave the bracket.
double Loss::search(const std::vector<Point>& points, std::uint32_t output) const {
    PointDerivatives derivatives = kDerivatives[number(formula_)];
    double parameter = deltas_[output];
    auto at = [&](double c) {
        Derivatives sum{0, 0};
        for (const Point& p : points) {
            Derivatives d = derivatives(p.y, p.f + c, parameter);
            sum.g += p.w * d.g;
            sum.h += p.w * d.h;
        }
        return sum;
    };
    double start = at(0).g;
    if (start == 0) return 0;
    double unit = traits().scale == RawScale::target ? unit_of(points) : 1;
    double low = 0, high = 0, reach = unit;
    // A leaf of one class has its minimum at infinity: 2^5 is far enough for a probability.
    double farthest = traits().scale == RawScale::unitless ? 32 : 1e300;
    double& moving = start > 0 ? low : high;
    while (reach <= farthest) {
        moving = start > 0 ? -reach : reach;
        double g = at(moving).g;
        if (start > 0 ? g <= 0 : g >= 0) break;
        reach *= 2;
    }
    if (reach > farthest) return moving;
    double c = 0, width = 2 * (high - low);
    for (int step = 0; step < 200; ++step) {
        Derivatives sum = at(c);
        if (sum.g == 0) break;
        (sum.g > 0 ? high : low) = c;
        double newton = sum.h > 0 ? c - sum.g / sum.h : low;
        // Newton's step is taken while it stays inside the bracket and the bracket halves every
        // other step: where the loss is linear its steps are short, and would take for ever.
        bool slow = step % 2 == 1 && high - low > width / 2;
        if (step % 2 == 1) width = high - low;
        double next = newton > low && newton < high && !slow ? newton : low + (high - low) / 2;
        double moved = std::abs(next - c);
        c = next;
        if (moved <= 1e-12 * (unit + std::abs(c))) break;
    }
    return c;
}

double weighted_quantile(std::vector<WeightedValue>& values, double level) {
    if (values.empty()) return 0;
    for (const WeightedValue& v : values)  // a NaN has no place in an order
        if (v.value != v.value || v.weight != v.weight)
            throw InputError("a residual is not a number: targets or predictions are too large");
    std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    double total = 0;
    for (const WeightedValue& v : values) total += v.weight;
    double goal = level * total, below = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        below += values[i].weight;
        // Exactly on the goal every value up to the next is a minimiser: take the middle.
        if (below == goal && i + 1 < values.size())
            return values[i].value / 2 + values[i + 1].value / 2;
        if (below > goal) return values[i].value;
    }
    return values.back().value;
}

}  // namespace bosquet
