// Instruction-set levels. Every file in cpu/kernels is compiled once per level with FB_ISA naming
// it; callers pick at run time. Other architectures have the baseline alone, which their compiler
// flags decide.
#pragma once

namespace fb::cpu {

enum class Isa { kBaseline, kAvx2, kAvx512 };

// What a processor says of itself: words of cpuid, and of xgetbv, which registers the system keeps
// when it switches threads. All zero where there is only one level.
struct Processor {
  unsigned features = 0;       // leaf 1, ecx
  unsigned more_features = 0;  // leaf 7, ebx
  unsigned extended = 0;       // leaf 0x80000001, ecx
  unsigned registers = 0;
};

Isa best_level(const Processor& processor);

// The best level this machine has; FLAMBEAU_ISA=baseline|avx2|avx512 lowers it.
Isa isa();

#if defined(FB_MULTI_ISA)
#define FB_DECLARE_KERNEL(result, name, ...) \
  namespace baseline {                       \
  result name(__VA_ARGS__);                  \
  }                                          \
  namespace avx2 {                           \
  result name(__VA_ARGS__);                  \
  }                                          \
  namespace avx512 {                         \
  result name(__VA_ARGS__);                  \
  }
// The level's version of a kernel declared above: FB_KERNEL(sort_rows)(...).
#define FB_KERNEL(name)                                                  \
  (::fb::cpu::isa() == ::fb::cpu::Isa::kAvx512 ? ::fb::cpu::avx512::name \
   : ::fb::cpu::isa() == ::fb::cpu::Isa::kAvx2 ? ::fb::cpu::avx2::name   \
                                               : ::fb::cpu::baseline::name)
#else
#define FB_DECLARE_KERNEL(result, name, ...) \
  namespace baseline {                       \
  result name(__VA_ARGS__);                  \
  }
#define FB_KERNEL(name) (::fb::cpu::baseline::name)
#endif

}  // namespace fb::cpu
