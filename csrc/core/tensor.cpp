// Creation and geometry of tensors.
#include "core/tensor.h"

#include <numeric>

#include "core/allocator.h"
#include "core/device_memory.h"
#include "core/device_names.h"
#include "core/layout.h"
#include "core/no_device.h"

namespace fb {
namespace {

// A view of a batched tensor's memory would silently be one of its first sample.
void check_has_elements(const Tensor& base) {
  if (base->flags & kBatched) [[unlikely]]
    autograd::refuse_batched_data();
}

bool is_contiguous_geometry(IntSpan sizes, IntSpan strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// One past the highest element that a view reaches, counted from its offset; 0 if it is empty.
int64_t extent_of(IntSpan sizes, IntSpan strides) {
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t reach = 0;
    FB_CHECK(!__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) &&
                 !__builtin_add_overflow(extent, reach, &extent),
             "sizes ", sizes, " and strides ", strides, " reach beyond 2^63");
  }
  return extent;
}

// Dimensions from the fastest to the slowest in memory; among equals the later dimension is faster.
SmallVec<int, 6> memory_order(IntSpan sizes, IntSpan strides) {
  SmallVec<int, 6> order;
  for (int i = static_cast<int>(sizes.size()) - 1; i >= 0; --i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[a] < strides[b]; });
  return order;
}

// The same for a tensor with gaps or expanded dimensions, by PyTorch's rule: stride 0 says nothing
// about the order of a dimension, and of equal strides the smaller size is faster.
SmallVec<int, 6> order_without_gaps(IntSpan sizes, IntSpan strides) {
  const int n = static_cast<int>(sizes.size());
  SmallVec<int, 6> order;
  for (int i = n - 1; i >= 0; --i) order.push_back(i);
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      const int before = order[j], after = order[at];
      if (strides[before] == 0 || strides[after] == 0) continue;
      if (strides[before] < strides[after]) break;
      if (strides[before] == strides[after] && sizes[before] <= sizes[after]) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

// Tensors are made and freed by the million: freed ones are kept for the thread that frees them.
// The cache is on the heap: thread-local storage must be small to be accessed fast.
struct ImplCache {
  static constexpr int kCapacity = 2048;
  void* blocks[kCapacity];
  int count = 0;
};
constinit thread_local ImplCache* impl_cache = nullptr;
constinit thread_local bool has_ended = false;

struct CacheOwner {
  ~CacheOwner() {
    has_ended = true;
    while (impl_cache->count > 0) ::operator delete(impl_cache->blocks[--impl_cache->count]);
    delete std::exchange(impl_cache, nullptr);
  }
};

ImplCache* make_cache() {
  static thread_local CacheOwner owner;
  static_cast<void>(owner);
  return impl_cache = new ImplCache;
}

std::atomic<DType> current_default_dtype{DType::kFloat32};

}  // namespace

void* TensorImpl::operator new(size_t bytes) {
  if (impl_cache && impl_cache->count > 0) return impl_cache->blocks[--impl_cache->count];
  return ::operator new(bytes);
}

void TensorImpl::operator delete(void* address) {
  ImplCache* cache = impl_cache || has_ended ? impl_cache : make_cache();
  if (cache && cache->count < ImplCache::kCapacity)
    cache->blocks[cache->count++] = address;
  else
    ::operator delete(address);
}

void TensorImpl::reserve_geometry(size_t dims) {
  FB_CHECK(dims <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, got ", dims);
  free_geometry();
  geometry = dims <= kInlineDims ? inline_ : new int64_t[2 * dims];
  ndim = static_cast<uint8_t>(dims);
}

void TensorImpl::set_geometry(IntSpan sizes, IntSpan strides) {
  const int64_t count = numel_of(sizes);
  Dims size_copy, stride_copy;  // the arguments may be this tensor's own
  if (sizes.data() == geometry) {
    size_copy = sizes.vec(), stride_copy = strides.vec();
    sizes = size_copy, strides = stride_copy;
  }
  reserve_geometry(sizes.size());
  std::copy(sizes.begin(), sizes.end(), geometry);
  std::copy(strides.begin(), strides.end(), geometry + ndim);
  numel = count;
  contiguous = is_contiguous_geometry(sizes, strides);
  deferred_layout = false;
}

void TensorImpl::set_contiguous(IntSpan sizes, int64_t element_count) {
  // Where there are elements, their number is in range, and so are the strides.
  if (element_count == 0) return set_geometry(sizes, contiguous_strides(sizes));
  reserve_geometry(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    geometry[i] = sizes[i];
    geometry[ndim + i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  numel = element_count;
  contiguous = true;
  deferred_layout = false;
}

void TensorImpl::set_known_geometry(IntSpan sizes, IntSpan strides) {
  reserve_geometry(sizes.size());
  int64_t count = 1;
  bool dense = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    geometry[i] = sizes[i];
    geometry[ndim + i] = strides[i];
    dense &= sizes[i] == 1 || strides[i] == count;
    count *= sizes[i];
  }
  numel = count;
  contiguous = dense || count == 0;
  deferred_layout = false;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::kContiguous) return is_contiguous();
  if (format == MemoryFormat::kPreserve) return true;
  const int64_t wanted = format == MemoryFormat::kChannelsLast ? 4 : 5;
  if (dim() != wanted) return false;
  const Dims expected = strides_for(sizes(), format);
  for (int64_t i = 0; i < wanted; ++i)
    if (sizes()[i] != 1 && strides()[i] != expected[i]) return false;
  return true;
}

void check_device(Device device) {
  const auto type = static_cast<int>(device.type);
  if (device.type == DeviceType::kCpu) return;
  if (start_device[type]) return start_device[type](device);
  if (device_memory[type]) return;
  if (device.type == DeviceType::kMeta) throw OnMeta();
  fail(ErrorKind::kRuntime, "no device ", device,
       " here: Flambeau computes on CPUs and NVIDIA GPUs; use device='cpu'");
}

Device actual_device(Device device) {
  check_device(device);
  // The CPU's index has no meaning and is dropped.
  if (device.type == DeviceType::kCpu) return kHost;
  if (device.index >= 0) return device;
  const auto current = device_memory[static_cast<int>(device.type)]->current;
  return Device(device.type, current ? current() : int8_t{0});
}

const DeviceMemory& memory_of(Device device) {
  check_device(device);
  return *device_memory[static_cast<int>(device.type)];
}

void refuse_missing_memory() {
  fail(ErrorKind::kRuntime, "a tensor on meta has no elements to read or write");
}

Tensor make_tensor(IntSpan sizes, DType dtype, Device device) {
  const int64_t count = numel_of(sizes);
  int64_t bytes = 0;
  FB_CHECK(!__builtin_mul_overflow(count, static_cast<int64_t>(size_of(dtype)), &bytes), "size ",
           sizes, " needs more than 2^63 bytes");
  Tensor tensor(new TensorImpl);
  tensor->set_contiguous(sizes, count);
  tensor->dtype = dtype;
  if (device.type == DeviceType::kCpu) [[likely]] {
    tensor->device = kHost;
    tensor->storage = allocate_cpu(static_cast<size_t>(bytes));
  } else {
    tensor->device = actual_device(device);
    tensor->storage = memory_of(device).allocate(static_cast<size_t>(bytes), tensor->device);
  }
  return tensor;
}

Tensor make_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  FB_CHECK(sizes.size() == strides.size(), "got ", sizes.size(), " sizes and ", strides.size(),
           " strides");
  for (const int64_t stride : strides) FB_CHECK(stride >= 0, "negative stride in ", strides);
  numel_of(sizes);
  Tensor tensor = make_tensor({extent_of(sizes, strides)}, dtype, device);
  tensor->set_geometry(sizes, strides);
  return tensor;
}

Tensor make_like(const Tensor& like, DType dtype, Device device) {
  if (like.is_contiguous()) {
    Tensor made = make_tensor(like.sizes(), dtype, device);
    // Exactly the same strides, also of dimensions of size 1, where users can see them.
    std::copy(like.strides().begin(), like.strides().end(), made->geometry + made->ndim);
    return made;
  }
  Tensor made =
      make_strided(like.sizes(), dense_strides_like(like.sizes(), like.strides()), dtype, device);
  made->deferred_layout = like->deferred_layout;
  return made;
}

Tensor tensor_over(Storage storage, IntSpan sizes, IntSpan strides, int64_t offset, DType dtype,
                   Device device) {
  FB_CHECK(sizes.size() == strides.size(), "got ", sizes.size(), " sizes and ", strides.size(),
           " strides");
  for (const int64_t stride : strides)
    FB_CHECK(stride >= 0, "negative strides are not supported, got ", strides);
  FB_CHECK(offset >= 0, "negative storage offset ", offset);
  numel_of(sizes);
  const int64_t extent = extent_of(sizes, strides);
  const auto capacity = static_cast<int64_t>(storage->bytes / size_of(dtype));
  FB_CHECK(extent == 0 || (offset <= capacity && extent <= capacity - offset), "sizes ", sizes,
           ", strides ", strides, " and offset ", offset, " reach outside of a storage of ",
           capacity, " elements");
  Tensor tensor(new TensorImpl);
  tensor->set_geometry(sizes, strides);
  tensor->dtype = dtype;
  tensor->device = device;
  tensor->offset = offset;
  tensor->storage = std::move(storage);
  return tensor;
}

Tensor contiguous_over(Storage storage, IntSpan sizes, DType dtype, Device device) {
  Tensor tensor(new TensorImpl);
  tensor->set_contiguous(sizes, numel_of(sizes));
  tensor->dtype = dtype;
  tensor->device = device;
  tensor->storage = std::move(storage);
  return tensor;
}

Tensor as_view(const Tensor& base, IntSpan sizes, IntSpan strides, int64_t offset) {
  check_has_elements(base);
  return tensor_over(base.storage(), sizes, strides, offset, base.dtype(), base.device());
}

Tensor as_view(const Tensor& base, IntSpan sizes, IntSpan strides) {
  return as_view(base, sizes, strides, base.offset());
}

Tensor inner_view(const Tensor& base, IntSpan sizes, IntSpan strides, int64_t offset) {
  check_has_elements(base);
  Tensor tensor(new TensorImpl);
  tensor->set_known_geometry(sizes, strides);
  tensor->dtype = base.dtype();
  tensor->device = base.device();
  tensor->offset = offset;
  tensor->storage = base.storage();
  return tensor;
}

bool is_dense(IntSpan sizes, IntSpan strides) {
  int64_t expected = 1;
  for (const int i : memory_order(sizes, strides)) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

Dims strides_for(IntSpan sizes, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous || format == MemoryFormat::kPreserve)
    return contiguous_strides(sizes);
  const size_t wanted = format == MemoryFormat::kChannelsLast ? 4 : 5;
  FB_CHECK(sizes.size() == wanted, "channels_last", wanted == 4 ? "" : "_3d", " needs a tensor of ",
           wanted, " dimensions, got size ", sizes);
  return channels_last_strides(sizes);
}

Dims dense_strides_like(IntSpan sizes, IntSpan strides) {
  if (is_dense(sizes, strides)) return strides.vec();
  Dims result(sizes.size());
  int64_t step = 1;
  for (const int i : order_without_gaps(sizes, strides)) {
    result[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return result;
}

bool has_internal_overlap(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.sizes()[i] > 1 && tensor.strides()[i] == 0) return tensor.numel() > 0;
  return false;
}

DType default_dtype() { return current_default_dtype.load(std::memory_order_relaxed); }
void set_default_dtype(DType dtype) { current_default_dtype = dtype; }

}  // namespace fb
