// A libcudnn for the tests of machines without a GPU: its graph interface, with convolutions that
// are computed element by element, as far as Flambeau calls it.
//
// Two engines take every convolution: number 0 says that it uses tensor cores, and its sums depend
// on an order; number 1 has no such notes. FB_EMULATOR_CUDNN: "broken" does not start, "refuses"
// has no engines, "fails" does not execute.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int kBadParameter = 2000, kUnsupported = 3000, kFailed = 5000;
constexpr int kEngineKind = 2, kConfigKind = 3;

struct Descriptor {
  int kind = 0;
  bool final = false;
  int engine = 0;
  std::map<int, std::vector<char>> values;
  std::map<int, std::vector<std::shared_ptr<Descriptor>>> parts;

  std::vector<int64_t> numbers(int attribute) const {
    const std::vector<char>& bytes = values.at(attribute);
    std::vector<int64_t> result(bytes.size() / 8);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  int word(int attribute) const {
    int result = 0;
    std::memcpy(&result, values.at(attribute).data(), sizeof result);
    return result;
  }
  const Descriptor& part(int attribute) const { return *parts.at(attribute).at(0); }
};

std::mutex mutex;
std::map<void*, std::shared_ptr<Descriptor>> alive;
int executions[2] = {};

bool behaves(const char* how) {
  const char* const wanted = std::getenv("FB_EMULATOR_CUDNN");
  return wanted && std::string(wanted) == how;
}

size_t bytes_of(int type) {
  switch (type) {
    case 0:
    case 3:
    case 5:
    case 6: return 8;  // handles, int64, double, addresses
    default: return 4;
  }
}

// An image or a weight: (count, channels, space...).
struct Tensor {
  int type;
  std::vector<int64_t> sizes, strides;
  char* data;

  double read(int64_t at) const {
    if (type == 0) return reinterpret_cast<const float*>(data)[at];
    if (type == 2) return static_cast<double>(reinterpret_cast<const _Float16*>(data)[at]);
    const uint32_t bits = static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(data)[at]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void write(int64_t at, double value) const {
    const auto narrow = static_cast<float>(value);
    if (type == 0) {
      reinterpret_cast<float*>(data)[at] = narrow;
    } else if (type == 2) {
      reinterpret_cast<_Float16*>(data)[at] = static_cast<_Float16>(narrow);
    } else {
      uint32_t bits;
      std::memcpy(&bits, &narrow, sizeof bits);
      bits += 0x7fff + (bits >> 16 & 1);
      reinterpret_cast<uint16_t*>(data)[at] = static_cast<uint16_t>(bits >> 16);
    }
  }
  int64_t size(size_t dim) const { return sizes[dim]; }
  int64_t elements() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
  // Its elements lie side by side in some order.
  int64_t at(int64_t first, int64_t second, const int64_t* space) const {
    int64_t offset = first * strides[0] + second * strides[1];
    for (size_t d = 2; d < sizes.size(); ++d) offset += space[d - 2] * strides[d];
    return offset;
  }
};

Tensor tensor_of(const Descriptor& described, const std::map<int64_t, void*>& given) {
  return {described.word(901), described.numbers(902), described.numbers(903),
          static_cast<char*>(given.at(described.numbers(906)[0]))};
}

// pass: 0 forward, 1 data, 2 weight. Calls visit(element of x, of w, of y) for all products.
template <class Visit>
void products(const Descriptor& convolution, const Tensor& x, const Tensor& w, const Tensor& y,
              Visit visit) {
  const std::vector<int64_t> dilation = convolution.numbers(102), stride = convolution.numbers(103),
                             padding = convolution.numbers(105);
  const size_t rank = dilation.size();
  const int64_t group_in = w.size(1), groups = x.size(1) / group_in, group_out = w.size(0) / groups;
  int64_t pixels = 1, taps = 1;
  for (size_t d = 0; d < rank; ++d) pixels *= y.size(d + 2), taps *= w.size(d + 2);
  for (int64_t n = 0; n < x.size(0); ++n)
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t from[3], k[3], to[3], p = pixel, t = tap;
        bool inside = true;
        for (size_t d = rank; d-- > 0; p /= y.size(d + 2), t /= w.size(d + 2)) {
          to[d] = p % y.size(d + 2), k[d] = t % w.size(d + 2);
          from[d] = to[d] * stride[d] - padding[d] + k[d] * dilation[d];
          inside = inside && from[d] >= 0 && from[d] < x.size(d + 2);
        }
        if (!inside) continue;
        for (int64_t o = 0; o < w.size(0); ++o)
          for (int64_t c = 0; c < group_in; ++c)
            visit(x.at(n, o / group_out * group_in + c, from), w.at(o, c, k), y.at(n, o, to));
      }
}

void convolve(const Descriptor& operation, const std::map<int64_t, void*>& given) {
  // The attributes of each operation: its convolution, and the tensors x, w and y.
  const int pass = operation.kind == 10 ? 0 : operation.kind == 12 ? 1 : 2;
  constexpr int kAttributes[3][4] = {
      {702, 704, 703, 705}, {708, 710, 709, 711}, {714, 716, 715, 717}};
  const int* const a = kAttributes[pass];
  const Tensor x = tensor_of(operation.part(a[1]), given),
               w = tensor_of(operation.part(a[2]), given),
               y = tensor_of(operation.part(a[3]), given);
  const Tensor& written = pass == 0 ? y : pass == 1 ? x : w;
  std::vector<double> sums(static_cast<size_t>(written.elements()));
  products(operation.part(a[0]), x, w, y, [&](int64_t i, int64_t k, int64_t o) {
    if (pass == 0) sums[static_cast<size_t>(o)] += x.read(i) * w.read(k);
    if (pass == 1) sums[static_cast<size_t>(i)] += y.read(o) * w.read(k);
    if (pass == 2) sums[static_cast<size_t>(k)] += y.read(o) * x.read(i);
  });
  for (size_t i = 0; i < sums.size(); ++i) written.write(static_cast<int64_t>(i), sums[i]);
}

std::shared_ptr<Descriptor> find(void* descriptor) {
  const auto found = alive.find(descriptor);
  return found == alive.end() ? nullptr : found->second;
}

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

// How often an engine has computed something.
API int fb_executions(int engine) { return executions[engine]; }

API size_t cudnnGetVersion() { return 90000; }
API const char* cudnnGetErrorString(int status) {
  return status == kUnsupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_EMULATED";
}
API int cudnnCreate(void** handle) {
  static int tag;
  *handle = &tag;
  return behaves("broken") ? 1001 : 0;
}
API int cudnnSetStream(void*, void*) { return 0; }

API int cudnnBackendCreateDescriptor(int kind, void** made) {
  const std::lock_guard lock(mutex);
  auto descriptor = std::make_shared<Descriptor>();
  descriptor->kind = kind;
  *made = descriptor.get();
  alive[*made] = std::move(descriptor);
  return 0;
}
API int cudnnBackendDestroyDescriptor(void* descriptor) {
  const std::lock_guard lock(mutex);
  return alive.erase(descriptor) ? 0 : kBadParameter;
}
API int cudnnBackendFinalize(void* descriptor) {
  const std::lock_guard lock(mutex);
  const auto found = find(descriptor);
  if (!found || found->final) return kBadParameter;
  found->final = true;
  return 0;
}
API int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, int64_t count,
                                 const void* values) {
  const std::lock_guard lock(mutex);
  const auto found = find(descriptor);
  if (!found || found->final || count <= 0) return kBadParameter;
  if (type != 15) {
    const auto* const bytes = static_cast<const char*>(values);
    found->values[attribute].assign(bytes, bytes + count * static_cast<int64_t>(bytes_of(type)));
    return 0;
  }
  auto& parts = found->parts[attribute];
  parts.clear();
  for (int64_t i = 0; i < count; ++i) {
    const auto part = find(static_cast<void* const*>(values)[i]);
    if (!part || (!part->final && part->kind != kConfigKind)) return kBadParameter;
    parts.push_back(part);
  }
  return 0;
}
API int cudnnBackendGetAttribute(void* descriptor, int attribute, int, int64_t most, int64_t* count,
                                 void* values) {
  const std::lock_guard lock(mutex);
  const auto found = find(descriptor);
  if (!found) return kBadParameter;
  switch (attribute) {
    case 202:  // the results of heuristics
      *count = behaves("refuses") ? 0 : 2;
      for (int64_t i = 0; i < most && i < *count; ++i) {
        const auto config = find(static_cast<void**>(values)[i]);
        config->parts[1300] = found->parts.at(201);
        config->engine = static_cast<int>(i);
      }
      return 0;
    case 300: {  // the engine of a configuration
      const auto engine = find(*static_cast<void**>(values));
      if (engine->kind != kEngineKind) return kBadParameter;
      engine->engine = found->engine;
      *count = 1;
      return 0;
    }
    case 402: {  // the workspace of a plan
      const int64_t bytes = 512;
      std::memcpy(values, &bytes, sizeof bytes);
      *count = 1;
      return 0;
    }
    case 1303: {  // the notes on an engine
      constexpr int kNotes[] = {0, 4};
      *count = found->engine == 0 ? 2 : 0;
      std::memcpy(values, kNotes, static_cast<size_t>(*count) * sizeof(int));
      return 0;
    }
    default: return kBadParameter;
  }
}
API int cudnnBackendExecute(void*, void* plan, void* pack) {
  const std::lock_guard lock(mutex);
  const auto planned = find(plan), packed = find(pack);
  if (!planned || !packed || !planned->final || !packed->final) return kBadParameter;
  if (behaves("fails")) return kFailed;
  const std::vector<int64_t> ids = packed->numbers(1000), addresses = packed->numbers(1001);
  std::map<int64_t, void*> given;
  for (size_t i = 0; i < ids.size(); ++i) given[ids[i]] = reinterpret_cast<void*>(addresses[i]);
  if (packed->numbers(1003)[0] == 0) return kBadParameter;  // the workspace
  const Descriptor& config = planned->part(401);
  convolve(config.part(1300).part(801), given);
  ++executions[config.engine];
  return 0;
}
