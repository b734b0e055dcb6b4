// The instruction set of the kernels, which is selected at run time and not when the library is
// built.
//
// A file named *_kernel.cpp is compiled once per instruction set, inside a namespace of that name
// (the macro BOSQUET_ISA). It must not use templates of the standard library: the linker keeps one
// copy of each, possibly the one that needs the newest processor.
#pragma once

#include <string_view>

namespace bosquet {

enum class Isa { baseline, avx2, avx512 };

// The best instruction set of this processor.
Isa best_isa();

// Accepts "auto", "baseline", "avx2" or "avx512"; throws InputError if the processor lacks it.
Isa parse_isa(std::string_view name);

}  // namespace bosquet

#ifdef BOSQUET_X86_KERNELS
#define BOSQUET_DECLARE_KERNELS(Type, table)                    \
    namespace baseline {                                        \
    extern const Type table;                                    \
    }                                                           \
    namespace avx2 {                                            \
    extern const Type table;                                    \
    }                                                           \
    namespace avx512 {                                          \
    extern const Type table;                                    \
    }                                                           \
    inline const Type& select_##table(::bosquet::Isa isa) {     \
        return isa == ::bosquet::Isa::avx512 ? avx512::table    \
               : isa == ::bosquet::Isa::avx2 ? avx2::table      \
                                             : baseline::table; \
    }
#else
#define BOSQUET_DECLARE_KERNELS(Type, table) \
    namespace baseline {                     \
    extern const Type table;                 \
    }                                        \
    inline const Type& select_##table(::bosquet::Isa) { return baseline::table; }
#endif
