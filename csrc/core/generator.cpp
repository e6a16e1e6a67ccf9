// MT19937 (Matsumoto and Nishimura, 1998), the layouts of saved states, and the default generators.
#include "core/generator.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>

#include "core/error.h"

namespace fb {
namespace {

constexpr int kMiddle = 397;  // the recurrence's offset
constexpr uint32_t kUpperMask = 0x80000000u;
constexpr uint32_t kMatrix = 0x9908b0dfu;

inline uint32_t mix(uint32_t upper, uint32_t lower) {
  return (((upper & kUpperMask) | (lower & ~kUpperMask)) >> 1) ^ ((0u - (lower & 1u)) & kMatrix);
}

inline uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::unique_lock<std::mutex> locked(std::mutex& mutex) {
  std::unique_lock<std::mutex> held(mutex, std::try_to_lock);
  if (!held.owns_lock()) {
    const BlockingRegion unlocked(true);
    held.lock();
  }
  return held;
}

void check_offset(uint64_t offset) {
  FB_CHECK(offset % 4 == 0, "offset must be a multiple of 4, got ", offset);
}

// Never destroyed, because threads of daemons may draw while the process ends.
struct GpuGenerators {
  std::mutex mutex;
  uint64_t seed = Generator::kDefaultSeed;  // of generators that are made later
  std::atomic<Generator*> made[kMaxGpuGenerators] = {};
};
GpuGenerators& gpu_generators() {
  static auto* const all = new GpuGenerators;
  return *all;
}

void reset_locks() {
  default_generator().reset_lock();
  new (&gpu_generators().mutex) std::mutex;
  for (int i = 0; i < kMaxGpuGenerators; ++i)
    if (Generator* const each = gpu_generator(i)) each->reset_lock();
}

}  // namespace

// As PyTorch writes it: the words of its oldest generator in 64 bits each, then a later version's
// fields.
struct Generator::SavedState {
  uint64_t initial_seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[kWords];
  double normal_x;  // unused, zero
  double spare_normal;
  double normal_rho;  // unused, zero
  int32_t has_spare_normal;
  int32_t padding;
  float spare_float_normal;
  int32_t has_spare_float_normal;
};

// A GPU's.
struct Generator::SavedPosition {
  uint64_t seed, offset;
};

size_t Generator::state_size() const {
  return is_on_gpu() ? sizeof(SavedPosition) : sizeof(SavedState);
}

Generator::Lock::Lock(const Generator& generator, int64_t draws)
    : held_(locked(generator.mutex_)), unlocked_(draws >= kMany) {}

Generator::Generator(const Generator& other) : device_(other.device_) {
  const Lock lock(other);
  initial_seed_ = other.initial_seed_;
  offset_ = other.offset_;
  if (is_on_gpu()) return;
  std::copy_n(other.words_, kWords, words_);
  next_ = other.next_;
  left_ = other.left_;
  spare_normal_ = other.spare_normal_;
  spare_float_normal_ = other.spare_float_normal_;
}

void Generator::restart(uint64_t seed) {
  initial_seed_ = seed;
  offset_ = 0;
  if (is_on_gpu()) return;
  words_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kWords; ++i)
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
  next_ = 0;
  left_ = 1;
  spare_normal_.reset();
  spare_float_normal_.reset();
}

void Generator::manual_seed(uint64_t seed) {
  const Lock lock(*this);
  restart(seed);
}

uint64_t Generator::seed() {
  std::random_device entropy;
  // 53 bits, so that the seed survives a round trip through a Python float.
  const uint64_t seed = ((uint64_t{entropy()} << 32) | entropy()) & ((uint64_t{1} << 53) - 1);
  manual_seed(seed);
  return seed;
}

uint64_t Generator::initial_seed() const {
  const Lock lock(*this);
  return initial_seed_;
}

void Generator::save_state(uint8_t* state) const {
  static_assert(sizeof(SavedState) == 5056);
  const Lock lock(*this);
  if (is_on_gpu()) {
    const SavedPosition position{initial_seed_, offset_};
    std::memcpy(state, &position, sizeof position);
    return;
  }
  SavedState saved{};
  saved.initial_seed = initial_seed_;
  saved.left = left_;
  saved.seeded = 1;
  saved.next = next_;
  std::copy_n(words_, kWords, saved.words);
  saved.spare_normal = spare_normal_.value_or(0);
  saved.has_spare_normal = spare_normal_.has_value();
  saved.spare_float_normal = spare_float_normal_.value_or(0);
  saved.has_spare_float_normal = spare_float_normal_.has_value();
  std::memcpy(state, &saved, sizeof saved);
}

void Generator::load_state(const uint8_t* state, size_t size) {
  if (is_on_gpu()) {
    // Older files of PyTorch's have no offset.
    FB_CHECK(size == sizeof(SavedPosition) || size == sizeof(uint64_t), "RNG state is wrong size");
    SavedPosition position{};
    std::memcpy(&position, state, size);
    check_offset(position.offset);
    const Lock lock(*this);
    initial_seed_ = position.seed;
    offset_ = position.offset;
    return;
  }
  FB_CHECK(size == state_size(), "expected a state of ", state_size(), " bytes, got ", size);
  SavedState saved;
  std::memcpy(&saved, state, sizeof saved);
  FB_CHECK(saved.seeded == 1 && saved.left > 0 && saved.left <= kWords && saved.next <= kWords,
           "Invalid mt19937 state");
  const Lock lock(*this);
  initial_seed_ = saved.initial_seed;
  left_ = saved.left;
  // A state whose two counts disagree must not lead outside the words.
  next_ = std::min(static_cast<uint32_t>(saved.next), static_cast<uint32_t>(kWords - (left_ - 1)));
  std::copy_n(saved.words, kWords, words_);
  spare_normal_.reset();
  if (saved.has_spare_normal != 0) spare_normal_ = saved.spare_normal;
  spare_float_normal_.reset();
  if ((saved.has_spare_float_normal & 0xff) != 0) spare_float_normal_ = saved.spare_float_normal;
}

uint64_t Generator::offset() const {
  const Lock lock(*this);
  return offset_;
}

void Generator::set_offset(uint64_t offset) {
  check_offset(offset);
  const Lock lock(*this);
  offset_ = offset;
}

Generator::Words Generator::reserve(uint64_t count) {
  const Lock lock(*this);
  const Words words{initial_seed_, offset_};
  offset_ += (count + 3) / 4 * 4;
  return words;
}

void Generator::twist() {
  // Each word depends on the next one and on the one 397 further on, wrapping around. Words already
  // renewed are at least 227 back, so both loops may be vectorised.
#pragma omp simd safelen(64)
  for (int i = 0; i < kWords - kMiddle; ++i)
    words_[i] = words_[i + kMiddle] ^ mix(words_[i], words_[i + 1]);
#pragma omp simd safelen(64)
  for (int i = kWords - kMiddle; i < kWords - 1; ++i)
    words_[i] = words_[i - (kWords - kMiddle)] ^ mix(words_[i], words_[i + 1]);
  words_[kWords - 1] = words_[kMiddle - 1] ^ mix(words_[kWords - 1], words_[0]);
  next_ = 0;
  left_ = kWords + 1;
}

uint32_t Generator::random32() {
  if (left_ == 1) twist();
  --left_;
  return temper(words_[next_++]);
}

uint64_t Generator::random64() {
  const uint64_t upper = random32();
  return (upper << 32) | random32();
}

void Generator::random32(uint32_t* out, int64_t count) {
  while (count > 0) {
    if (left_ == 1) twist();
    const int take = static_cast<int>(std::min<int64_t>(count, left_ - 1));
    const uint32_t* words = words_ + next_;
#pragma omp simd
    for (int i = 0; i < take; ++i) out[i] = temper(words[i]);
    next_ += take;
    left_ -= take;
    out += take;
    count -= take;
  }
}

double Generator::uniform() {
  return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

double Generator::normal() {
  if (spare_normal_) {
    const double value = *spare_normal_;
    spare_normal_.reset();
    return value;
  }
  // Box and Muller (1958).
  const double angle = 2 * M_PI * uniform();
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  spare_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

Generator& default_generator() {
  static Generator generator(kHost);
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, reset_locks);
  return generator;
}

Generator& default_generator(Device device) {
  if (device.type != DeviceType::kCuda) return default_generator();
  const int index = std::max<int>(device.index, 0);
  FB_ASSERT(index < kMaxGpuGenerators);
  GpuGenerators& all = gpu_generators();
  if (Generator* const made = gpu_generator(index)) return *made;
  const std::lock_guard lock(all.mutex);
  Generator* generator = all.made[index];
  if (!generator) {
    generator = new Generator(Device(DeviceType::kCuda, static_cast<int8_t>(index)));
    generator->manual_seed(all.seed);
    all.made[index].store(generator, std::memory_order_release);
  }
  return *generator;
}

Generator* gpu_generator(int index) {
  return gpu_generators().made[index].load(std::memory_order_acquire);
}

void seed_gpu_generators(uint64_t seed) {
  GpuGenerators& all = gpu_generators();
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (int i = 0; i < kMaxGpuGenerators; ++i)
    if (Generator* const each = gpu_generator(i)) each->manual_seed(seed);
}

}  // namespace fb
