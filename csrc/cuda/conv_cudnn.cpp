// Convolutions by cuDNN, over images whose channels are neighbours in memory.
//
// What a plan depends on is its key; how to compute is chosen once for each and kept. Nothing here
// takes Python's lock while a device's handle is locked: whoever holds that lock may wait for this.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <unordered_map>

#include "core/determinism.h"
#include "core/layout.h"
#include "core/tensor.h"
#include "core/warning.h"
#include "cuda/allocator.h"
#include "cuda/conv.h"
#include "cuda/cudnn.h"
#include "cuda/device/conv_args.h"
#include "cuda/launch.h"
#include "cuda/library.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

using cudnn::Attribute;
using cudnn::Descriptor;
using cudnn::Kind;
using cudnn::Type;
using kernel::ConvShape;
using kernel::Extent;

constexpr size_t kMostWorkspace = size_t{256} << 20, kLeastWorkspace = size_t{16} << 20;
constexpr size_t kMostPlans = 1024;  // that are kept: a program may have any number of shapes
constexpr int64_t kIn = 1, kWeight = 2, kOut = 3;  // by which executions name tensors

TypedKernel bias_kernel("conv.cuh", "add_bias_to_pixels", "PixelBias");

using Key = std::array<int64_t, 28>;
struct HashKey {
  size_t operator()(const Key& key) const {
    uint64_t hash = 1469598103934665603u;
    for (const int64_t part : key) hash = (hash ^ static_cast<uint64_t>(part)) * 1099511628211u;
    return hash;
  }
};

struct Prepared {
  std::vector<cudnn::Plan> plans;  // none: cuDNN does not compute this; several: to be measured
};
// Guarded by the mutex of the device's handle.
using Cache = std::unordered_map<Key, std::shared_ptr<Prepared>, HashKey>;
Cache& cache_of(int device) {
  static auto* const caches = new Cache[kMaxDevices];
  return caches[device];
}

int64_t alignment_of(const Tensor& t) {
  return int64_t{1} << std::countr_zero(reinterpret_cast<uintptr_t>(t.data()) | 16u);
}

bool wants_determinism() {
  return neural_settings.deterministic.load(std::memory_order_relaxed) ||
         determinism.load(std::memory_order_relaxed) != Determinism::kAny;
}

Key key_of(ConvPass pass, const ConvShape& s, DType dtype, const Tensor& in, const Tensor& weight,
           const Tensor& out) {
  const int64_t settings =
      (wants_determinism() ? 1 : 0) | (dtype == DType::kFloat32 && neural_settings.tf32 ? 2 : 0) |
      (neural_settings.benchmark ? 4 | int64_t{neural_settings.candidates} << 3 : 0);
  Key key{static_cast<int64_t>(pass),
          static_cast<int64_t>(dtype),
          settings,
          alignment_of(in) << 16 | alignment_of(weight) << 8 | alignment_of(out),
          s.batch,
          s.groups,
          s.in_channels,
          s.out_channels};
  size_t at = 8;
  for (const Extent* each : {&s.in, &s.out, &s.kernel, &s.stride, &s.padding, &s.dilation})
    for (const int64_t size : *each) key[at++] = size;
  static_assert(8 + 6 * 3 <= std::tuple_size_v<Key>);
  return key;
}

// cuDNN has convolutions of two and three spatial dimensions.
bool is_flat(const ConvShape& s) {
  return s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0;
}

std::vector<int64_t> spatial(const ConvShape& s, const Extent& extent) {
  return {extent.begin() + (is_flat(s) ? 1 : 0), extent.end()};
}

Descriptor channels_last(int64_t id, int type, int64_t count, int64_t channels,
                         const std::vector<int64_t>& space, int64_t alignment) {
  std::vector<int64_t> sizes{count, channels}, strides(space.size() + 2);
  sizes.insert(sizes.end(), space.begin(), space.end());
  int64_t step = channels;
  for (size_t d = sizes.size(); d-- > 2; step *= sizes[d]) strides[d] = step;
  strides[0] = step, strides[1] = 1;
  return cudnn::tensor(id, type, sizes, strides, alignment);
}

// A plan for each engine that may compute it.
std::vector<cudnn::Plan> plan(cudnn::Handle handle, ConvPass pass, const ConvShape& s, DType dtype,
                              const Tensor& in, const Tensor& weight, const Tensor& out,
                              size_t workspace) {
  int type = 0;
  cudnn::type_number(dtype, type);
  constexpr int kFloat = 0, kCrossCorrelation = 1;
  const std::vector<int64_t> padding = spatial(s, s.padding), strides = spatial(s, s.stride);
  Descriptor convolution(Kind::kConvolution);
  convolution.set(Attribute::kConvolutionType, Type::kDataType, 1, &kFloat)
      .set(Attribute::kConvolutionMode, Type::kConvolutionMode, 1, &kCrossCorrelation)
      .set(Attribute::kSpatialDims, static_cast<int64_t>(padding.size()))
      .set(Attribute::kPaddingBefore, padding)
      .set(Attribute::kPaddingAfter, padding)
      .set(Attribute::kStrides, strides)
      .set(Attribute::kDilations, spatial(s, s.dilation))
      .finalize();
  const Descriptor x =
      channels_last(kIn, type, s.batch, s.in_channels, spatial(s, s.in), alignment_of(in));
  const Descriptor w = channels_last(kWeight, type, s.out_channels, s.group_in(),
                                     spatial(s, s.kernel), alignment_of(weight));
  const Descriptor y =
      channels_last(kOut, type, s.batch, s.out_channels, spatial(s, s.out), alignment_of(out));
  constexpr float kOne = 1, kZero = 0;
  Descriptor operation;
  switch (pass) {
    case ConvPass::kForward:
      operation = Descriptor(Kind::kForward);
      operation.set(Attribute::kForwardAlpha, Type::kFloat, 1, &kOne)
          .set(Attribute::kForwardBeta, Type::kFloat, 1, &kZero)
          .set(Attribute::kForwardConvolution, convolution)
          .set(Attribute::kForwardX, x)
          .set(Attribute::kForwardW, w)
          .set(Attribute::kForwardY, y);
      break;
    case ConvPass::kData:
      operation = Descriptor(Kind::kBackwardData);
      operation.set(Attribute::kDataAlpha, Type::kFloat, 1, &kOne)
          .set(Attribute::kDataBeta, Type::kFloat, 1, &kZero)
          .set(Attribute::kDataConvolution, convolution)
          .set(Attribute::kDataDx, x)
          .set(Attribute::kDataW, w)
          .set(Attribute::kDataDy, y);
      break;
    case ConvPass::kWeight:
      operation = Descriptor(Kind::kBackwardFilter);
      operation.set(Attribute::kFilterAlpha, Type::kFloat, 1, &kOne)
          .set(Attribute::kFilterBeta, Type::kFloat, 1, &kZero)
          .set(Attribute::kFilterConvolution, convolution)
          .set(Attribute::kFilterX, x)
          .set(Attribute::kFilterDw, w)
          .set(Attribute::kFilterDy, y);
      break;
  }
  operation.finalize();
  Descriptor graph(Kind::kGraph);
  graph.set(Attribute::kGraphOperations, operation)
      .set(Attribute::kGraphHandle, Type::kHandle, 1, &handle)
      .finalize();
  cudnn::Rules rules;
  rules.deterministic = wants_determinism();
  rules.tensor_cores = dtype != DType::kFloat32 || neural_settings.tf32;
  rules.shorter_inputs = dtype != DType::kFloat32;
  rules.workspace = workspace;
  const int candidates = neural_settings.candidates.load();
  const size_t most = !neural_settings.benchmark ? 1
                      : candidates <= 0          ? std::numeric_limits<size_t>::max()
                                                 : static_cast<size_t>(candidates);
  return cudnn::plans_for(handle, graph, rules, most);
}

// What a plan may take of the memory that is left.
size_t workspace_limit(int device) {
  return std::clamp(memory_info(device).free / 4, kLeastWorkspace, kMostWorkspace);
}

std::string text_of(ConvPass pass, const ConvShape& s, DType dtype) {
  const char* const names[] = {"forward", "data", "weight"};
  const auto text = [](const Extent& e) { return message_of(e[0], "x", e[1], "x", e[2]); };
  return message_of("convolution (", names[static_cast<int>(pass)], ") ", dtype, " batch ", s.batch,
                    ", channels ", s.in_channels, " -> ", s.out_channels, ", groups ", s.groups,
                    ", ", text(s.in), " -> ", text(s.out), ", kernel ", text(s.kernel), ", stride ",
                    text(s.stride), ", padding ", text(s.padding), ", dilation ", text(s.dilation));
}

// Runs all plans and keeps the fastest.
void measure(cudnn::Handle handle, Prepared& prepared, const std::vector<int64_t>& ids,
             const std::vector<void*>& pointers, void* workspace, Stream stream) {
  Event begin = nullptr, end = nullptr;
  FB_CUDA(event_create, &begin, 0);
  FB_CUDA(event_create, &end, 0);
  float least = std::numeric_limits<float>::infinity();
  size_t best = 0;
  for (size_t i = 0; i < prepared.plans.size(); ++i) {
    try {
      constexpr int kRuns = 3;
      cudnn::execute(handle, prepared.plans[i], ids, pointers, workspace, stream);
      FB_CUDA(event_record, begin, stream);
      for (int run = 0; run < kRuns; ++run)
        cudnn::execute(handle, prepared.plans[i], ids, pointers, workspace, stream);
      FB_CUDA(event_record, end, stream);
      FB_CUDA(event_synchronize, end);
      float taken = 0;
      FB_CUDA(event_elapsed, &taken, begin, end);
      if (taken < least) least = taken, best = i;
    } catch (const cudnn::Refusal& refusal) {
      if (cudnn::logs()) cudnn::log(refusal.text);
    }
  }
  driver().event_destroy(begin);
  driver().event_destroy(end);
  std::swap(prepared.plans[0], prepared.plans[best]);
  prepared.plans.resize(1);
}

bool takes(const ConvShape& s, DType dtype) {
  int type = 0;
  if (!neural_settings.enabled.load(std::memory_order_relaxed) || !cudnn::type_number(dtype, type))
    return false;
  if (s.groups == 1 || s.group_in() > 1) return true;
  // Every channel is a group: kernels without products of matrices are as good, except for 16-bit
  // elements, which cuDNN has special ones for.
  switch (neural_settings.depthwise.load(std::memory_order_relaxed)) {
    case NeuralSettings::Depthwise::kCudnn: return true;
    case NeuralSettings::Depthwise::kNative: return false;
    default: return is_reduced_float(dtype);
  }
}

void warn_once(const std::string& text) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    warn("cuDNN: ", text, "; Flambeau's own kernels compute instead, which are slower");
}

bool compute(ConvPass pass, const ConvShape& s, const Tensor& in, const Tensor& weight,
             const Tensor& out) {
  const DType dtype = in.dtype();
  const int device = place_of(in);
  cudnn::DeviceState& state = cudnn::state_of(device);
  const Key key = key_of(pass, s, dtype, in, weight, out);
  std::shared_ptr<Prepared> prepared;
  std::string failure;
  size_t bytes = 0;
  neural_library();  // takes Python's lock when it opens: before the handle's
  {
    std::unique_lock lock(state.mutex);
    const bool first = !state.handle && !state.failed;
    const cudnn::Handle handle = cudnn::handle_of(device);
    if (!handle) {
      if (first && !neural_library().path.empty()) failure = state.why;
    } else {
      Cache& cache = cache_of(device);
      if (const auto at = cache.find(key); at != cache.end()) {
        prepared = at->second;
      } else {
        if (cache.size() >= kMostPlans) cache.clear();
        prepared = std::make_shared<Prepared>();
        try {
          prepared->plans = plan(handle, pass, s, dtype, in, weight, out, workspace_limit(device));
          if (cudnn::logs())
            cudnn::log(message_of(text_of(pass, s, dtype), ": ", prepared->plans.size(), " plans"));
        } catch (const cudnn::Refusal& refusal) {
          if (cudnn::logs()) cudnn::log(message_of(text_of(pass, s, dtype), ": ", refusal.text));
        }
        cache.emplace(key, prepared);
      }
      for (const cudnn::Plan& each : prepared->plans) bytes = std::max(bytes, each.workspace);
      if (prepared->plans.empty()) prepared = nullptr;
    }
  }
  if (!failure.empty()) warn_once(failure);
  if (!prepared) return false;

  Storage workspace;
  try {
    if (bytes) workspace = allocate(bytes, Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return false;  // our own kernels need no room
  }
  const std::vector<int64_t> ids{kIn, kWeight, kOut};
  const std::vector<void*> pointers{in.data(), weight.data(), out.data()};
  void* const room = workspace ? workspace->data : nullptr;
  {
    std::unique_lock lock(state.mutex);
    if (prepared->plans.empty()) return false;  // another thread found that it fails
    try {
      if (prepared->plans.size() > 1)
        measure(state.handle, *prepared, ids, pointers, room, current_stream(device));
      cudnn::execute(state.handle, prepared->plans[0], ids, pointers, room, current_stream(device));
    } catch (const cudnn::Refusal& refusal) {
      failure = message_of(text_of(pass, s, dtype), ": ", refusal.text);
      prepared->plans.clear();
    }
  }
  if (failure.empty()) return true;
  warn_once(failure);
  return false;
}

Tensor empty_like_channels_last(const Tensor& t) {
  return make_strided(t.sizes(), channels_last_strides(t.sizes()), t.dtype(), t.device());
}

}  // namespace

bool conv_cudnn(ConvPass pass, const ConvShape& s, const Tensor& in, const Tensor& weight,
                const Tensor& out) {
  if (!takes(s, in.dtype())) return false;
  use(place_of(in));
  if (is_channels_last(weight)) return compute(pass, s, in, weight, out);
  const Tensor ordered = empty_like_channels_last(weight);
  if (pass != ConvPass::kWeight) {
    kernel::copy(ordered, weight);
    return compute(pass, s, in, ordered, out);
  }
  if (!compute(pass, s, in, ordered, out)) return false;
  kernel::copy(weight, ordered);
  return true;
}

void add_bias_to_pixels(const Tensor& image, const Tensor& bias) {
  const int device = place_of(image);
  use(device);
  const int64_t channels = image.size(1);
  const auto aligned = [&](const Tensor& t) {
    return reinterpret_cast<uintptr_t>(t.data()) % 16 == 0;
  };
  int width = static_cast<int>(16 / size_of(image.dtype()));
  if (channels % width != 0 || !aligned(image) || !aligned(bias)) width = 1;
  const device::PixelBias args{image.data(), bias.data(), image.numel() / width, channels / width};
  launch(device, bias_kernel.on(device, image.dtype(), width, message_of(width).c_str()),
         {blocks_for(args.packs, 256)}, 256, args);
}

}  // namespace fb::cuda
