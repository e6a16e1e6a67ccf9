// The sources of random numbers, whose streams and saved states are PyTorch's, bit for bit: that of
// the host is a Mersenne Twister, that of a GPU a position in what its kernels compute (Philox).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>

#include "core/blocking.h"
#include "core/device.h"

namespace fb {

class Generator {
 public:
  // What PyTorch starts an unseeded generator with (the larger prime factor of 2^64 + 1).
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(Device device) : device_(device) { restart(kDefaultSeed); }
  // A copy goes on with the same stream.
  Generator(const Generator& other);
  Generator& operator=(const Generator&) = delete;

  // Of the tensors that it fills.
  Device device() const { return device_; }
  bool is_on_gpu() const { return device_.type == DeviceType::kCuda; }

  // These take the lock themselves.
  void manual_seed(uint64_t seed);
  // Seeds from the operating system's entropy and returns the seed.
  uint64_t seed();
  uint64_t initial_seed() const;
  // Bytes of a saved state; the layouts are in generator.cpp.
  size_t state_size() const;
  // load_state fails, changing nothing, if the state is invalid.
  void save_state(uint8_t* state) const;
  void load_state(const uint8_t* state, size_t size);
  // In a forked child: the lock may have been held by a thread that does not exist there.
  void reset_lock() { new (&mutex_) std::mutex; }

  // Of a GPU's generator: how many words of 32 bits each of a kernel's threads has been given, in
  // fours. Philox computes a word from the seed, the thread's number and the word's position.
  uint64_t offset() const;
  void set_offset(uint64_t offset);
  struct Words {
    uint64_t seed, offset;
  };
  // The next `count` words of every thread.
  Words reserve(uint64_t count);

  // Held around a run of draws. Other Python threads may run while a thread waits for it, because
  // the holder may need the interpreter to finish, and while many numbers are drawn.
  class Lock {
   public:
    explicit Lock(const Generator& generator, int64_t draws = 0);

   private:
    static constexpr int64_t kMany = 32768;
    std::unique_lock<std::mutex> held_;
    BlockingRegion unlocked_;
  };

  // Draws of the host's generator; the caller holds the lock.
  uint32_t random32();
  // The first word drawn is the upper half.
  uint64_t random64();
  // `count` words in one go, about ten times as fast as one by one.
  void random32(uint32_t* out, int64_t count);
  // Uniform on [0, 1), a multiple of 2^-53.
  double uniform();
  // Standard normal. Values come in pairs; the second is kept for the next call.
  double normal();

 private:
  static constexpr int kWords = 624;
  struct SavedState;
  struct SavedPosition;

  void restart(uint64_t seed);
  void twist();

  const Device device_;
  uint64_t initial_seed_;
  uint64_t offset_ = 0;  // of a GPU's; all below is of the host's
  uint32_t words_[kWords];
  uint32_t next_;  // the word to hand out next
  int32_t left_;   // words left before the next twist, plus one
  std::optional<double> spare_normal_;
  // PyTorch's state has a slot for a single-precision spare too. Nothing on the CPU fills it; it is
  // kept so that a state goes through unchanged.
  std::optional<float> spare_float_normal_;
  mutable std::mutex mutex_;
};

// The generator used where none is named: the host's, and that of a device, which is the host's for
// all but GPUs.
Generator& default_generator();
Generator& default_generator(Device device);
// Starts those of all GPUs, also of GPUs that nobody has asked for yet.
void seed_gpu_generators(uint64_t seed);
// Those that somebody has asked for; null elsewhere.
inline constexpr int kMaxGpuGenerators = 32;
Generator* gpu_generator(int index);

}  // namespace fb
