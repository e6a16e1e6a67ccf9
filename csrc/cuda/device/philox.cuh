// Philox 4x32-10 (Salmon et al., 2011, "Parallel random numbers: as easy as 1, 2, 3"): every thread
// computes its own stream from the seed, its number and a position, with cuRAND's order of words.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/random_args.h"
#include "scalar/math.h"

namespace fb::device {

struct Words {
  unsigned at[4];
};

__device__ inline Words philox(Words counter, unsigned key0, unsigned key1) {
  constexpr unsigned kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr unsigned kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(kMultiplier0, counter.at[0]);
    const unsigned high1 = __umulhi(kMultiplier1, counter.at[2]);
    counter = {{high1 ^ counter.at[1] ^ key0, kMultiplier1 * counter.at[2],
                high0 ^ counter.at[3] ^ key1, kMultiplier0 * counter.at[0]}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

// The stream of one thread; four words at a time.
class Philox {
 public:
  __device__ Philox(const Draws& draws, unsigned long long thread)
      : seed_(draws.seed), thread_(thread), block_(draws.offset / 4) {}

  __device__ Words next() {
    const Words counter{{static_cast<unsigned>(block_), static_cast<unsigned>(block_ >> 32),
                         static_cast<unsigned>(thread_), static_cast<unsigned>(thread_ >> 32)}};
    ++block_;
    return philox(counter, static_cast<unsigned>(seed_), static_cast<unsigned>(seed_ >> 32));
  }

 private:
  unsigned long long seed_, thread_, block_;
};

// --- numbers from words, as cuRAND makes them

// Uniform on (0, 1].
__device__ inline float uniform_of(unsigned word) {
  return static_cast<float>(word) * 0x1p-32f + 0x1p-33f;
}
__device__ inline double uniform_of(unsigned low, unsigned high) {
  const unsigned long long bits = low ^ (static_cast<unsigned long long>(high) << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

// Two standard normal numbers (Box and Muller, 1958).
struct FloatPair {
  float first, second;
};
struct DoublePair {
  double first, second;
};
__device__ inline FloatPair normal_of(unsigned a, unsigned b) {
  constexpr float kAngle = 0x1p-32f * 6.2831855f;
  const float radius = math::sqrt(-2.0f * math::log(uniform_of(a)));
  float sine, cosine;
  __sincosf(__fmaf_rn(static_cast<float>(b), kAngle, kAngle / 2), &sine, &cosine);
  return {sine * radius, cosine * radius};
}
__device__ inline DoublePair normal_of(unsigned a, unsigned b, unsigned c, unsigned d) {
  const unsigned long long angle = c ^ (static_cast<unsigned long long>(d) << 21);
  const double radius = math::sqrt(-2.0 * math::log(uniform_of(a, b)));
  double sine, cosine;
  sincospi(static_cast<double>(angle) * 0x1p-52 + 0x1p-53, &sine, &cosine);
  return {sine * radius, cosine * radius};
}

// What samplers draw from (scalar/samplers.h): numbers of 53 bits, one after the other.
class Source {
 public:
  __device__ Source(const Draws& draws, unsigned long long thread) : stream_(draws, thread) {}

  // Uniform on [0, 1).
  __device__ double uniform() {
    if (left_ == 0) {
      words_ = stream_.next();
      left_ = 2;
    }
    --left_;
    const unsigned low = left_ == 1 ? words_.at[0] : words_.at[2];
    const unsigned high = left_ == 1 ? words_.at[1] : words_.at[3];
    return static_cast<double>(low ^ (static_cast<unsigned long long>(high) << 21)) * 0x1p-53;
  }
  // Standard normal; the second of a pair is kept.
  __device__ double normal() {
    has_spare_ = !has_spare_;
    if (!has_spare_) return spare_;
    const Words words = stream_.next();
    const DoublePair pair = normal_of(words.at[0], words.at[1], words.at[2], words.at[3]);
    spare_ = pair.second;
    return pair.first;
  }

 private:
  Philox stream_;
  Words words_ = {};
  int left_ = 0;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace fb::device
