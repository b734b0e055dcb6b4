#include "losses/kernels.hpp"

namespace bosquet::BOSQUET_ISA {

namespace {

template <class Loss>
void gradients(const double* __restrict target, const double* __restrict raw,
               const double* __restrict weight, double parameter, std::size_t count,
               GradientPair* __restrict out) {
    if (weight == nullptr) {
        for (std::size_t i = 0; i < count; ++i) {
            Derivatives d = Loss::derivatives(target[i], raw[i], parameter);
            out[i] = {static_cast<float>(d.g), static_cast<float>(d.h)};
        }
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            Derivatives d = Loss::derivatives(target[i], raw[i], parameter);
            out[i] = {static_cast<float>(d.g * weight[i]), static_cast<float>(d.h * weight[i])};
        }
    }
}

template <class Loss>
void values(const double* __restrict target, const double* __restrict raw,
            const double* __restrict weight, double parameter, std::size_t count,
            double* __restrict out) {
    if (weight == nullptr) {
        for (std::size_t i = 0; i < count; ++i) out[i] += Loss::value(target[i], raw[i], parameter);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            out[i] += weight[i] * Loss::value(target[i], raw[i], parameter);
    }
}

template <class Loss>
void responses(const double* __restrict raw, std::size_t count, double* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        double response = Loss::response(raw[i]);
        if constexpr (Loss::targets == Targets::two_classes) {
            out[2 * i] = 1.0 - response;
            out[2 * i + 1] = response;
        } else {
            out[i] = response;
        }
    }
}

// Groups of rows in the outer loop, classes in the inner loop: the exponentials of a group stay in
// registers and the first-level cache.
constexpr std::size_t kGroup = 32;

// Up to this many classes the exponentials of a group are kept (16 KB), which takes 0.6 of the time
// of computing them twice.
constexpr std::size_t kKeptClasses = 64;

// A loop of its own, whose pointers do not alias: it vectorises.
BOSQUET_INLINE void exponentials(const double* __restrict f, const double* __restrict top,
                                 std::size_t size, double* __restrict out) {
    for (std::size_t i = 0; i < size; ++i) out[i] = portable_exp(f[i] - top[i]);
}

// Calls `use` with the first row of each group, its number of rows, and for each row the largest
// raw score and the sum of the exponentials relative to it. `kept` receives the exponentials by
// class, if there are at most kKeptClasses.
template <class Use>
BOSQUET_INLINE void for_softmax_groups(const double* raw, std::size_t stride, std::size_t classes,
                                       std::size_t count, double* kept, Use use) {
    std::size_t kept_stride = classes <= kKeptClasses ? kGroup : 0;
    for (std::size_t begin = 0; begin < count; begin += kGroup) {
        std::size_t size = count - begin < kGroup ? count - begin : kGroup;
        double top[kGroup], total[kGroup];
        for (std::size_t i = 0; i < size; ++i) top[i] = raw[begin + i];
        for (std::size_t k = 1; k < classes; ++k) {
            const double* f = raw + k * stride + begin;
            for (std::size_t i = 0; i < size; ++i) top[i] = f[i] > top[i] ? f[i] : top[i];
        }
        for (std::size_t i = 0; i < size; ++i) total[i] = 0;
        for (std::size_t k = 0; k < classes; ++k) {
            double* e = kept + k * kept_stride;
            exponentials(raw + k * stride + begin, top, size, e);
            for (std::size_t i = 0; i < size; ++i) total[i] += e[i];
        }
        use(begin, size, top, total);
    }
}

void softmax_gradients(const double* target, const double* raw, const double* weight,
                       std::size_t stride, std::size_t classes, std::size_t count,
                       GradientPair* out) {
    // K raw scores have K - 1 degrees of freedom. This factor corrects the diagonal of the Hessian,
    // which ignores that all scores are updated together (Friedman 2001, and LightGBM).
    double factor = static_cast<double>(classes) / static_cast<double>(classes - 1);
    double kept[kKeptClasses * kGroup];
    for_softmax_groups(
        raw, stride, classes, count, kept,
        [&](std::size_t begin, std::size_t size, const double* top, const double* total) {
            for (std::size_t k = 0; k < classes; ++k) {
                const double* e = kept + k * kGroup;
                if (classes > kKeptClasses) {
                    exponentials(raw + k * stride + begin, top, size, kept);
                    e = kept;
                }
                GradientPair* pair = out + k * stride + begin;
                auto number = static_cast<double>(k);
                for (std::size_t i = 0; i < size; ++i) {
                    double p = e[i] / total[i];
                    double is_target = target[begin + i] == number ? 1.0 : 0.0;
                    double w = weight != nullptr ? weight[begin + i] : 1.0;
                    pair[i] = {static_cast<float>((p - is_target) * w),
                               static_cast<float>(factor * p * (1.0 - p) * w)};
                }
            }
        });
}

void softmax_values(const double* target, const double* raw, const double* weight,
                    std::size_t stride, std::size_t classes, std::size_t count, double* out) {
    double kept[kKeptClasses * kGroup];
    for_softmax_groups(
        raw, stride, classes, count, kept,
        [&](std::size_t begin, std::size_t size, const double* top, const double* total) {
            for (std::size_t i = 0; i < size; ++i) {
                std::size_t row = begin + i;
                auto k = static_cast<std::size_t>(target[row]);
                double v = portable_log(total[i]) + top[i] - raw[k * stride + row];
                out[row] += weight != nullptr ? weight[row] * v : v;
            }
        });
}

void softmax_responses(const double* __restrict raw, std::size_t classes, std::size_t count,
                       double* __restrict out) {
    for (std::size_t row = 0; row < count; ++row, raw += classes, out += classes) {
        double top = raw[0], total = 0;
        for (std::size_t k = 1; k < classes; ++k) top = raw[k] > top ? raw[k] : top;
        for (std::size_t k = 0; k < classes; ++k) out[k] = portable_exp(raw[k] - top);
        for (std::size_t k = 0; k < classes; ++k) total += out[k];
        for (std::size_t k = 0; k < classes; ++k) out[k] /= total;
    }
}

}  // namespace

const LossKernels loss_kernels = {
#define BOSQUET_LOOP(name, Type) gradients<Type>,
    {BOSQUET_FORMULAS(BOSQUET_LOOP)},
#undef BOSQUET_LOOP
#define BOSQUET_LOOP(name, Type) values<Type>,
    {BOSQUET_FORMULAS(BOSQUET_LOOP)},
#undef BOSQUET_LOOP
    softmax_gradients,
    softmax_values,
#define BOSQUET_LOOP(name, Type) responses<Type>,
    {BOSQUET_FORMULAS(BOSQUET_LOOP)},
#undef BOSQUET_LOOP
    softmax_responses};

}  // namespace bosquet::BOSQUET_ISA
