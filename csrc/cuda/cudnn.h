// cuDNN, by its graph interface: descriptors, and plans that execute a graph of operations.
//
// The library is opened when the first convolution is computed. A descriptor is made, gets its
// attributes and is finalized; operations name tensors, a graph has operations, heuristics list
// engines that compute it, and a plan is an engine that is ready to run.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "core/storage.h"
#include "cuda/driver.h"

namespace fb::cuda {

struct Library;

// Opens it, once, which takes Python's lock. Never raises. Its version is a number like 91700.
const Library& neural_library();

// What torch.backends.cudnn asks for.
struct NeuralSettings {
  std::atomic<bool> enabled{true}, benchmark{false}, deterministic{false};
  std::atomic<bool> tf32{true};     // convolutions of float32
  std::atomic<int> candidates{10};  // that a benchmark measures; 0: all
  // Kernels for convolutions in which every channel is a group.
  enum class Depthwise : int { kAuto, kCudnn, kNative };
  std::atomic<Depthwise> depthwise{Depthwise::kAuto};
};
inline NeuralSettings neural_settings;

}  // namespace fb::cuda

namespace fb::cuda::cudnn {

// The library's numbers.
enum class Kind : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
};

enum class Attribute : int {
  kConvolutionType = 100,
  kConvolutionMode = 101,
  kDilations = 102,
  kStrides = 103,
  kPaddingAfter = 104,
  kPaddingBefore = 105,
  kSpatialDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  // Of the three operations: what comes, in this order, is six numbers for each.
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataAlpha = 706,
  kDataBeta = 707,
  kDataConvolution = 708,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterAlpha = 712,
  kFilterBeta = 713,
  kFilterConvolution = 714,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
};

// The types of attributes.
enum class Type : int {
  kHandle = 0,
  kDataType = 1,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kPointer = 6,
  kConvolutionMode = 7,
  kHeuristicsMode = 8,
  kNote = 11,
  kDescriptor = 15,
};

using Handle = void*;

// A call that the library refused.
struct Refusal {
  int status;
  std::string text;
};

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(Kind kind);
  Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Descriptor();

  Descriptor& set(Attribute attribute, Type type, int64_t count, const void* values);
  Descriptor& set(Attribute attribute, int64_t value) {
    return set(attribute, Type::kInt64, 1, &value);
  }
  Descriptor& set(Attribute attribute, const std::vector<int64_t>& values) {
    return set(attribute, Type::kInt64, static_cast<int64_t>(values.size()), values.data());
  }
  Descriptor& set(Attribute attribute, const Descriptor& other) {
    return set(attribute, Type::kDescriptor, 1, &other.raw_);
  }
  // How many elements there are; those that fit are copied.
  int64_t get(Attribute attribute, Type type, int64_t most, void* values) const;
  Descriptor& finalize();
  void* raw() const { return raw_; }

 private:
  void* raw_ = nullptr;
};

// The number that stands for a type; false if the library has none, or none that is used here.
bool type_number(DType dtype, int& number);

// Dense or not, with an id by which executions name it.
Descriptor tensor(int64_t id, int type, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, int64_t alignment);

// What an engine may do.
struct Rules {
  bool deterministic = false;
  bool tensor_cores = true;
  bool shorter_inputs = true;  // read as a type of fewer bits than they have
  size_t workspace = size_t{256} << 20;
};

struct Plan {
  Descriptor config, made;
  size_t workspace = 0;
};

// One device's handle. Whoever uses it holds the mutex.
struct DeviceState {
  std::mutex mutex;
  Handle handle = nullptr;
  bool failed = false;
  std::string why;
};
// The handle's mutex is locked by the caller; null if the library does not work on this device.
Handle handle_of(int device);
DeviceState& state_of(int device);

// Engines for a graph, the one that should be fastest first, at most `most` of them.
std::vector<Plan> plans_for(Handle handle, const Descriptor& graph, const Rules& rules,
                            size_t most);

// Enqueues the work on a stream.
void execute(Handle handle, const Plan& plan, const std::vector<int64_t>& ids,
             const std::vector<void*>& pointers, void* workspace, Stream stream);

// For $FLAMBEAU_CUDNN_LOG, which asks for a line on standard error about every choice and refusal.
bool logs();
void log(const std::string& line);

}  // namespace fb::cuda::cudnn
