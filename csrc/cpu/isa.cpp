// Which instruction-set level this machine has.
#include "cpu/isa.h"

#include <cstdlib>
#include <string_view>

namespace fb::cpu {
namespace {

Isa detect() {
#if defined(FB_MULTI_ISA)
  Isa best = Isa::kBaseline;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::kAvx2;
  if (best == Isa::kAvx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    best = Isa::kAvx512;
  const char* wanted = std::getenv("FLAMBEAU_ISA");
  if (!wanted) return best;
  const std::string_view name(wanted);
  if (name == "baseline") return Isa::kBaseline;
  if (name == "avx2" && best == Isa::kAvx512) return Isa::kAvx2;
  return best;
#else
  return Isa::kBaseline;
#endif
}

}  // namespace

Isa isa() {
  static const Isa level = detect();
  return level;
}

}  // namespace fb::cpu
