// Which instruction-set level this machine has.
#include "cpu/isa.h"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#if defined(FB_MULTI_ISA)
#include <cpuid.h>
#endif

namespace fb::cpu {
namespace {

constexpr unsigned bits(std::initializer_list<int> positions) {
  unsigned all = 0;
  for (const int position : positions) all |= 1u << position;
  return all;
}

bool has(unsigned found, unsigned wanted) { return (found & wanted) == wanted; }

// Everything that a compiler may use for -march=x86-64-v2 beyond what every x86-64 has.
bool x86_64_v2(const Processor& p) {
  return has(p.features, bits({0, 9, 13, 19, 20, 23})) &&  // sse3, ssse3, cx16, sse4.1, 4.2, popcnt
         has(p.extended, bits({0}));                       // lahf
}

// And for x86-64-v3 beyond that.
bool x86_64_v3(const Processor& p) {
  return has(p.features, bits({12, 22, 28, 29})) &&  // fma, movbe, avx, f16c
         has(p.more_features, bits({3, 5, 8})) &&    // bmi1, avx2, bmi2
         has(p.extended, bits({5})) &&               // lzcnt
         has(p.registers, bits({1, 2}));             // xmm, ymm
}

// And for x86-64-v4 beyond that.
bool x86_64_v4(const Processor& p) {
  return x86_64_v3(p) && has(p.more_features, bits({16, 17, 28, 30, 31})) &&  // f, dq, cd, bw, vl
         has(p.registers, bits({5, 6, 7}));                                   // masks, zmm
}

// The compilers' builtin for this knows too few of the names.
Processor this_processor() {
  Processor p;
#if defined(FB_MULTI_ISA)
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) p.features = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) p.more_features = ebx;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) p.extended = ecx;
  constexpr unsigned kRegistersCanBeAsked = bits({27});
  if (has(p.features, kRegistersCanBeAsked)) {
    unsigned high;
    __asm__("xgetbv" : "=a"(p.registers), "=d"(high) : "c"(0));
  }
#endif
  return p;
}

Isa wanted_level(Isa best) {
  const char* wanted = std::getenv("FLAMBEAU_ISA");
  if (!wanted) return best;
  const std::string_view name(wanted);
  if (name == "baseline") return Isa::kBaseline;
  if (name == "avx2" && best == Isa::kAvx512) return Isa::kAvx2;
  return best;
}

}  // namespace

Isa best_level(const Processor& processor) {
  if (x86_64_v4(processor)) return Isa::kAvx512;
  return x86_64_v3(processor) ? Isa::kAvx2 : Isa::kBaseline;
}

bool has_baseline(const Processor& processor) { return x86_64_v2(processor); }

bool has_baseline() {
#if defined(FB_MULTI_ISA)
  return has_baseline(this_processor());
#else
  return true;
#endif
}

Isa isa() {
  static const Isa level = wanted_level(best_level(this_processor()));
  return level;
}

}  // namespace fb::cpu
