// Fills memory with random numbers: draws words in chunks, turns each chunk into numbers, stores
// them as the output's type.
#include "cpu/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/copy.h"
#include "cpu/kernels/random.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Elements whose words and numbers stay in the first-level cache together.
constexpr int64_t kChunk = 1024;
// Elements of a Box-Muller block.
constexpr int64_t kBlock = 16;

// Calls produce(numbers, count) for one chunk after the other and stores the numbers.
template <class Number, class Produce>
void fill_chunks(DType dtype, void* out, int64_t n, Produce&& produce) {
  const ConvertFn store = converter(kDTypeOf<Number>, dtype);
  const auto size = static_cast<int64_t>(size_of(dtype));
  Number numbers[kChunk];
  char* next = static_cast<char*>(out);
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - begin);
    produce(numbers, count);
    store(count, numbers, sizeof(Number), next, size);
    next += count * size;
  }
}

void draw_uniform(Generator& generator, DType dtype, void* out, int64_t n, double from, double to) {
  const int words_each = dtype == DType::kFloat64 ? 2 : 1;
  uint32_t words[2 * kChunk];
  char* next = static_cast<char*>(out);
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - begin);
    generator.random32(words, words_each * count);
    FB_KERNEL(words_to_uniform)(dtype, words, next, count, from, to);
    next += count * size_of(dtype);
  }
}

// Fills with f(u) for u uniform on [0, 1) in double precision.
template <class F>
void fill_by_inversion(Generator& generator, DType dtype, void* out, int64_t n, F f) {
  const Generator::Lock lock(generator, n);
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    draw_uniform(generator, DType::kFloat64, numbers, count, 0, 1);
    for (int64_t i = 0; i < count; ++i) numbers[i] = f(numbers[i]);
  });
}

void box_muller(float* data, int64_t blocks, double mean, double std) {
  FB_KERNEL(box_muller)(data, blocks, static_cast<float>(mean), static_cast<float>(std));
}
// With the C library's functions, as PyTorch's numbers depend on their last bits.
void box_muller(double* data, int64_t blocks, double mean, double std) {
  for (int64_t block = 0; block < blocks; ++block, data += kBlock) {
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - data[j]));
      const double angle = 2 * M_PI * data[j + 8];
      data[j] = std::fma(radius * std::cos(angle), std, mean);
      data[j + 8] = std::fma(radius * std::sin(angle), std, mean);
    }
  }
}

// Draws whole blocks: the words one after the other, then the transformation. In single precision
// that is no slower than drawing, so a second thread would not pay; in double precision it is by
// far.
template <class T>
void draw_normal_blocks(Generator& generator, T* out, int64_t n, double mean, double std) {
  constexpr bool kParallel = sizeof(T) == 8;
  constexpr int64_t kRun = kParallel ? 262144 : 4096;
  constexpr int64_t kEach = kParallel ? 8192 : kRun;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    const int64_t count = std::min(kRun, n - begin);
    draw_uniform(generator, kDTypeOf<T>, out + begin, count, 0, 1);
    parallel_for(count / kBlock, kEach / kBlock, [&](int64_t first, int64_t last) {
      box_muller(out + begin + first * kBlock, last - first, mean, std);
    });
  }
}

template <class T>
void fill_normal_blocks(Generator& generator, T* out, int64_t n, double mean, double std) {
  const int64_t whole = n / kBlock * kBlock;
  draw_normal_blocks(generator, out, whole, mean, std);
  if (whole == n) return;
  // PyTorch fills all elements with uniform numbers before it notices that the last ones are not a
  // whole block.
  draw_uniform(generator, kDTypeOf<T>, out + whole, n - whole, 0, 1);
  draw_normal_blocks(generator, out + n - kBlock, kBlock, mean, std);
}

// The 16-bit floats are drawn in single precision, and without numbers that go unused.
void fill_normal_blocks_reduced(Generator& generator, DType dtype, void* out, int64_t n,
                                double mean, double std) {
  const auto produce = [&](float* numbers, int64_t count) {
    draw_normal_blocks(generator, numbers, count, mean, std);
  };
  fill_chunks<float>(dtype, out, n / kBlock * kBlock, produce);
  if (n % kBlock == 0) return;
  char* const last_block = static_cast<char*>(out) + (n - kBlock) * size_of(dtype);
  fill_chunks<float>(dtype, last_block, kBlock, produce);
}

template <class T>
void shuffle(Generator& generator, T* out, int64_t n) {
  // From here on a 32-bit remainder would favour small numbers by more than a twentieth.
  constexpr int64_t kWideFrom = std::numeric_limits<uint32_t>::max() / 20;
  if (n >= kWideFrom) {
    for (int64_t i = 0; i < n; ++i) {
      const auto other = static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(i + 1));
      out[i] = convert<T>(i);
      std::swap(out[i], out[other]);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = convert<T>(i);
  uint32_t words[kChunk];
  for (int64_t begin = 0; begin < n - 1; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - 1 - begin);
    generator.random32(words, count);
    for (int64_t i = begin; i < begin + count; ++i)
      std::swap(out[i], out[i + words[i - begin] % static_cast<uint32_t>(n - i)]);
  }
}

// Where a probability is given per element, its type decides the precision of the numbers it is
// compared with.
template <class P, class Uniform>
void draw_bernoulli_each(Generator& generator, DType dtype, void* out, int64_t n, const P* p) {
  const Generator::Lock lock(generator, n);
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    Uniform uniform[kChunk];
    draw_uniform(generator, kDTypeOf<Uniform>, uniform, count, 0, 1);
    int outside = 0;
#pragma omp simd reduction(+ : outside)
    for (int64_t i = 0; i < count; ++i) {
      const auto probability = static_cast<Uniform>(p[i]);
      outside += probability >= 0 && probability <= 1 ? 0 : 1;
      numbers[i] = uniform[i] < probability ? 1.0 : 0.0;
    }
    FB_CHECK(outside == 0, "expected probabilities in [0, 1], got ", outside, " outside of it");
    p += count;
  });
}

}  // namespace

void fill_uniform(Generator& generator, DType dtype, void* out, int64_t n, double from, double to) {
  const Generator::Lock lock(generator, n);
  draw_uniform(generator, dtype, out, n, from, to);
}

void fill_normal_blocks(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                        double std) {
  FB_ASSERT(n >= kBlock);
  const Generator::Lock lock(generator, n);
  if (is_reduced_float(dtype))
    return fill_normal_blocks_reduced(generator, dtype, out, n, mean, std);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_normal_blocks(generator, static_cast<T*>(out), n, mean, std);
  });
}

void fill_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean, double std) {
  const Generator::Lock lock(generator, n);
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i) numbers[i] = std::fma(generator.normal(), std, mean);
  });
}

void fill_log_normal(Generator& generator, DType dtype, void* out, int64_t n, double mean,
                     double std) {
  const Generator::Lock lock(generator, n);
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = std::exp(std::fma(generator.normal(), std, mean));
  });
}

void fill_exponential(Generator& generator, DType dtype, void* out, int64_t n, double rate) {
  const double scale = -1.0 / rate;
  if (dtype == DType::kFloat64) {
    // The C library's function, for the same last bit; in narrower types the bit does not show.
    fill_by_inversion(generator, dtype, out, n, [=](double u) { return scale * std::log1p(-u); });
    return;
  }
  const Generator::Lock lock(generator, n);
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    draw_uniform(generator, DType::kFloat64, numbers, count, 0, 1);
    FB_KERNEL(scaled_log1m)(numbers, count, scale);
  });
}

void fill_cauchy(Generator& generator, DType dtype, void* out, int64_t n, double median,
                 double sigma) {
  fill_by_inversion(generator, dtype, out, n,
                    [=](double u) { return std::fma(sigma, std::tan(M_PI * (u - 0.5)), median); });
}

void fill_geometric(Generator& generator, DType dtype, void* out, int64_t n, double p) {
  const double log_failure = std::log1p(-p);
  fill_by_inversion(generator, dtype, out, n,
                    [=](double u) { return std::ceil(std::log(u) / log_failure); });
}

void fill_bernoulli(Generator& generator, DType dtype, void* out, int64_t n, double p) {
  const Generator::Lock lock(generator, n);
  // u < p for u = k / 2^53 is k < p * 2^53, and multiplying by a power of two is exact.
  const auto threshold = static_cast<int64_t>(std::ceil(p * 0x1p53));
  if (dtype == DType::kBool) {
    uint32_t words[2 * kChunk];
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      const int64_t count = std::min(kChunk, n - begin);
      generator.random32(words, 2 * count);
      FB_KERNEL(words_below_flags)(words, static_cast<uint8_t*>(out) + begin, count, threshold);
    }
    return;
  }
  fill_chunks<double>(dtype, out, n, [&](double* numbers, int64_t count) {
    uint32_t words[2 * kChunk];
    generator.random32(words, 2 * count);
    FB_KERNEL(words_below)(words, numbers, count, threshold);
  });
}

void fill_mask(Generator& generator, void* out, int64_t n, double keep) {
  fill_bernoulli(generator, DType::kBool, out, n, keep);
}

void fill_bernoulli_each(Generator& generator, DType dtype, void* out, int64_t n, DType p_dtype,
                         const void* p) {
  switch (p_dtype) {
    case DType::kFloat16:
      return draw_bernoulli_each<Half, float>(generator, dtype, out, n,
                                              static_cast<const Half*>(p));
    case DType::kBFloat16:
      return draw_bernoulli_each<BFloat16, float>(generator, dtype, out, n,
                                                  static_cast<const BFloat16*>(p));
    default:
      return visit_floating(p_dtype, [&](auto tag) {
        using P = typename decltype(tag)::type;
        draw_bernoulli_each<P, P>(generator, dtype, out, n, static_cast<const P*>(p));
      });
  }
}

void fill_integers(Generator& generator, DType dtype, void* out, int64_t n, uint64_t range,
                   int64_t base, bool wide) {
  const Generator::Lock lock(generator, n);
  fill_chunks<int64_t>(dtype, out, n, [&](int64_t* numbers, int64_t count) {
    if (!wide) {
      uint32_t words[kChunk];
      generator.random32(words, count);
      FB_KERNEL(words_modulo)(words, numbers, count, static_cast<uint32_t>(range), base);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t draw = generator.random64();
      // Unsigned: a sum that wraps is the right one.
      const uint64_t value = (range == 0 ? draw : draw % range) + static_cast<uint64_t>(base);
      numbers[i] = static_cast<int64_t>(value);
    }
  });
}

void fill_permutation(Generator& generator, DType dtype, void* out, int64_t n) {
  const Generator::Lock lock(generator, n);
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    shuffle(generator, static_cast<T*>(out), n);
  });
}

void scale_negative(Generator& generator, DType dtype, const void* in, void* out, void* slopes,
                    int64_t n, double lower, double upper) {
  const Generator::Lock lock(generator, n);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const from = static_cast<const T*>(in);
    T* const to = static_cast<T*>(out);
    T* const slope = static_cast<T*>(slopes);
    for (int64_t i = 0; i < n; ++i) {
      const bool draws = from[i] <= T(0);
      slope[i] = draws ? T(generator.uniform() * (upper - lower) + lower) : T(1);
      to[i] = draws ? from[i] * slope[i] : from[i];
    }
  });
}

}  // namespace fb::cpu
