// Element functions in double, by the C library. This file is compiled twice: with -ffast-math,
// under which GCC calls the library's vector functions, and without, for values where no digit and
// no sign may be lost.
#include <cmath>
#include <cstring>

#include "sweep.h"

namespace {

struct Entry {
  const char* name;
  Function function;
};

#define ENTRY(name, value)                                                                 \
  {#name, [](const float* input, double* output, int count) {                              \
     for (int i = 0; i < count; ++i) output[i] = [](double x) { return value; }(input[i]); \
   }}

constexpr double kSqrtHalf = 0.70710678118654752440, kTwiceSqrtTwoOverPi = 1.5957691216057308;
constexpr double kSeluScale = 1.0507009873554804934, kSeluAlpha = 1.6732632423543772848;

// exp where its float is neither zero nor infinite, and as good as that beyond: the vector function
// leaves numbers that overflow a double to the scalar one.
double float_exp(double x) {
  const double near = x < -200 ? -200 : x > 200 ? 200 : x;
  return std::exp(std::fabs(x) < INFINITY ? near : x);
}

const Entry kEntries[] = {
    ENTRY(exp, float_exp(x)),
    ENTRY(exp2, std::exp2(x)),
    ENTRY(expm1, std::expm1(x)),
    ENTRY(log, std::log(x)),
    ENTRY(log2, std::log2(x)),
    ENTRY(log10, std::log10(x)),
    ENTRY(log1p, std::log1p(x)),
    ENTRY(sqrt, std::sqrt(x)),
    ENTRY(rsqrt, 1 / std::sqrt(x)),
    ENTRY(sin, std::sin(x)),
    ENTRY(cos, std::cos(x)),
    ENTRY(tan, std::tan(x)),
    ENTRY(asin, std::asin(x)),
    ENTRY(acos, std::acos(x)),
    ENTRY(atan, std::atan(x)),
    ENTRY(sinh, std::sinh(x)),
    ENTRY(cosh, std::cosh(x)),
    ENTRY(tanh, std::tanh(x)),
    ENTRY(asinh, std::asinh(x)),
    ENTRY(acosh, std::acosh(x)),
    ENTRY(atanh, std::atanh(x)),
    ENTRY(erf, std::erf(x)),
    ENTRY(erfc, std::erfc(x)),
    ENTRY(sigmoid, 1 / (1 + float_exp(-x))),
    ENTRY(silu, x / (1 + float_exp(-x))),
    ENTRY(gelu, 0.5 * x * std::erfc(-x * kSqrtHalf)),
    ENTRY(gelu_tanh, x / (1 + float_exp(-kTwiceSqrtTwoOverPi * (x + 0.044715 * x * x * x)))),
    ENTRY(mish, x* std::tanh(std::log1p(float_exp(x)))),
    ENTRY(softplus, x > 20 ? x : std::log1p(float_exp(x))),
    ENTRY(logsigmoid, (x < 0 ? x : 0) - std::log1p(float_exp(-std::abs(x)))),
    ENTRY(hardswish, x <= -3  ? 0 * x
                     : x >= 3 ? x
                              : x * (x + 3) / 6),
    ENTRY(elu, x > 0 ? x : std::expm1(x)),
    ENTRY(selu, kSeluScale*(x > 0 ? x : kSeluAlpha * std::expm1(x))),
    ENTRY(celu, x > 0 ? x : std::expm1(x)),
};

}  // namespace

Function FIND(const char* name) {
  for (const Entry& entry : kEntries)
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  return nullptr;
}
