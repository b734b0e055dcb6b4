#include "base/isa.hpp"

#include <string>

#include "base/error.hpp"

namespace bosquet {

Isa best_isa() {
#ifdef BOSQUET_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd"))
        return Isa::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return Isa::avx2;
#endif
    return Isa::baseline;
}

Isa parse_isa(std::string_view name) {
    Isa best = best_isa();
    Isa wanted;
    if (name == "auto") return best;
    if (name == "baseline")
        wanted = Isa::baseline;
    else if (name == "avx2")
        wanted = Isa::avx2;
    else if (name == "avx512")
        wanted = Isa::avx512;
    else
        throw InputError("isa='" + std::string(name) +
                         "' is unknown; pass 'auto', 'baseline', 'avx2' or 'avx512'");
    if (wanted > best)
        throw InputError("isa='" + std::string(name) +
                         "' is not supported by this processor; pass 'auto'");
    return wanted;
}

}  // namespace bosquet
