// Instruction-set levels. Every file in cpu/kernels is compiled once per level with FB_ISA naming
// it; callers pick at run time. Other architectures have only the baseline, which their compiler
// flags define.
#pragma once

namespace fb::cpu {

enum class Isa { kBaseline, kAvx2, kAvx512 };

// The features of a processor: words of cpuid, and of xgetbv the registers that the system saves
// when it switches threads. All zero if there is only one level.
struct Processor {
  unsigned features = 0;       // leaf 1, ecx
  unsigned more_features = 0;  // leaf 7, ebx
  unsigned extended = 0;       // leaf 0x80000001, ecx
  unsigned registers = 0;
};

Isa best_level(const Processor& processor);

// Whether a processor can run the kernels at all: on one that lacks what the lowest level needs,
// the program would stop with an illegal instruction. The form without an argument asks about this
// processor.
bool has_baseline(const Processor& processor);
bool has_baseline();

// The best level this machine has; FLAMBEAU_ISA=baseline|avx2|avx512 lowers it.
Isa isa();

#if defined(FB_MULTI_ISA)
#define FB_IN_LEVELS(...) \
  namespace baseline {    \
  __VA_ARGS__             \
  }                       \
  namespace avx2 {        \
  __VA_ARGS__             \
  }                       \
  namespace avx512 {      \
  __VA_ARGS__             \
  }
// The level's version of a kernel declared below: FB_KERNEL(sort_rows)(...).
#define FB_KERNEL(name)                                                  \
  (::fb::cpu::isa() == ::fb::cpu::Isa::kAvx512 ? ::fb::cpu::avx512::name \
   : ::fb::cpu::isa() == ::fb::cpu::Isa::kAvx2 ? ::fb::cpu::avx2::name   \
                                               : ::fb::cpu::baseline::name)
#else
#define FB_IN_LEVELS(...) \
  namespace baseline {    \
  __VA_ARGS__             \
  }
#define FB_KERNEL(name) (::fb::cpu::baseline::name)
#endif

// A kernel that other files of the CPU call.
#define FB_DECLARE_KERNEL(result, name, ...) FB_IN_LEVELS(result name(__VA_ARGS__);)
// What goes into a slot of the CPU's table (cpu/table.cpp), with the signature that the slot has:
// one function for each level,
#define FB_DECLARE_LEVELS(family, name) FB_IN_LEVELS(FB_DECLARE_SLOT(family, name))
// or one that chooses among kernels by itself.
#define FB_DECLARE_SLOT(family, name) decltype(::fb::family::name)::Function name;

}  // namespace fb::cpu
