// The Tensor: a counted handle on a typed, strided view of a storage.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/dims.h"
#include "core/dtype.h"
#include "core/scalar.h"
#include "core/storage.h"

namespace fb {

class TensorImpl;

namespace autograd {
class Node;
struct Meta;  // gradient, hooks and tangent of a tensor that has any
struct Cut;   // where a tensor's history was cut off

// Releases what a dying tensor holds of the graph.
void release(TensorImpl& impl);
// A batched tensor has no elements of its own: code that read its memory would take one sample for
// the whole batch.
[[noreturn]] void refuse_batched_data();
}  // namespace autograd

// Tensors on meta may promise more elements than there are addresses for.
[[noreturn]] void refuse_missing_memory();

// What makes a tensor more than plain elements. An operator whose inputs have no flag takes the
// fast path: it just computes.
enum TensorFlag : uint8_t {
  kRequiresGrad = 1,  // a leaf that wants gradients, or the result of a recorded operator
  kIsView = 2,        // a view of `base`, with which it shares its history
  kBatched = 4,       // stands for one of many: see autograd/batch.h
  kDual = 8,          // carries a tangent
  kCut = 16,          // computed from something that required gradients, but not recorded
  kInference = 32,    // made in inference mode
  kKeepsObject = 64,  // owns its Python object: see bind/tensor_object.h
  kSparse = 128,      // stores indices and values: see autograd/sparse.h
};

// Set once by the Python binding: releases the object that a dying tensor has kept.
struct ObjectHooks {
  void (*release)(void* object) = nullptr;
};
inline ObjectHooks object_hooks;

// How a view came about: some views must not be changed in place.
enum class ViewOrigin : uint8_t { kRecorded, kNoGrad, kOneOfMany, kInference, kFunction };

// What a handle points at. Created by make_tensor and as_view only.
class TensorImpl {
 public:
  std::atomic<int32_t> refs{1};
  DType dtype = DType::kFloat32;
  Device device = kHost;
  uint8_t ndim = 0;
  bool contiguous = true;
  bool deferred_layout = false;  // the strides are ours to choose: see core/layout.h
  uint8_t flags = 0;
  ViewOrigin view_origin = ViewOrigin::kRecorded;
  uint32_t output_nr = 0;        // which result of `grad_fn` this is
  uint32_t history_version = 0;  // of the storage, when a view's grad_fn was made
  Storage storage;
  int64_t offset = 0;  // in elements
  int64_t numel = 0;
  // Sizes, then strides. Up to six dimensions live in the object itself.
  int64_t* geometry = inline_;
  // The Python object that wraps this tensor, if there is one: borrowed, or owned while Python has
  // no reference left but state to keep. See Note [One Python object per tensor] in
  // bind/tensor_object.h.
  void* python_object = nullptr;
  union {
    autograd::Node* grad_fn = nullptr;  // owned: the recorded operator that made it
    const autograd::Cut* cut;           // with kCut, which has no grad_fn
  };
  TensorImpl* base = nullptr;  // owned: of a view, the tensor that is none
  autograd::Meta* autograd = nullptr;

  ~TensorImpl() {
    if (flags & ~(kCut | kInference) || autograd) autograd::release(*this);
    free_geometry();
  }

  IntSpan sizes() const { return {geometry, ndim}; }
  IntSpan strides() const { return {geometry + ndim, ndim}; }
  // Tensors on meta stand on storages that are promised and may have no memory to read.
  bool has_memory() const { return storage->data || numel == 0; }
  bool is_promised() const { return storage->promised; }
  void set_geometry(IntSpan sizes, IntSpan strides);
  void set_contiguous(IntSpan sizes, int64_t element_count);
  // set_geometry for sizes whose product is known to be in range and that are not this tensor's
  // own.
  void set_known_geometry(IntSpan sizes, IntSpan strides);

  static void* operator new(size_t bytes);
  static void operator delete(void* address);

 private:
  static constexpr int kInlineDims = 6;
  void reserve_geometry(size_t dims);
  void free_geometry() {
    if (geometry != inline_) delete[] geometry;
  }
  int64_t inline_[2 * kInlineDims];
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImpl* owned) : impl_(owned) {}
  Tensor(const Tensor& other) : impl_(other.impl_) {
    if (impl_) impl_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  static Tensor retain(TensorImpl* impl) {
    if (impl) impl->refs.fetch_add(1, std::memory_order_relaxed);
    return Tensor(impl);
  }
  TensorImpl* leak() { return std::exchange(impl_, nullptr); }
  ~Tensor() {
    if (impl_ && impl_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete impl_;
  }

  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const { return defined(); }
  TensorImpl* get() const { return impl_; }
  TensorImpl* operator->() const { return impl_; }

  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  int64_t dim() const { return impl_->ndim; }
  int64_t numel() const { return impl_->numel; }
  int64_t offset() const { return impl_->offset; }
  IntSpan sizes() const { return impl_->sizes(); }
  IntSpan strides() const { return impl_->strides(); }
  // Along `dim`, which may be negative.
  int64_t size(int64_t dim) const { return sizes()[wrap_dim(dim, this->dim())]; }
  int64_t stride(int64_t dim) const { return strides()[wrap_dim(dim, this->dim())]; }
  bool is_contiguous() const { return impl_->contiguous; }
  bool is_contiguous(MemoryFormat format) const;
  size_t element_size() const { return size_of(dtype()); }
  const Storage& storage() const { return impl_->storage; }

  // The first element's address. Kernels get addresses only here, so none can be given a batched
  // tensor, or one without memory.
  void* data() const {
    if (impl_->flags & kBatched) [[unlikely]]
      autograd::refuse_batched_data();
    if (!impl_->has_memory()) [[unlikely]]
      refuse_missing_memory();
    return static_cast<char*>(impl_->storage->data) +
           impl_->offset * static_cast<int64_t>(element_size());
  }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

  // Every change of elements in place is counted; `by` is the operator that made it.
  void bump_version(const char* by) const {
    ++impl_->storage->version;
    if (impl_->storage->watched) [[unlikely]]
      autograd::note_change(*impl_->storage.get(), by);
  }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

 private:
  TensorImpl* impl_ = nullptr;
};

using TensorList = std::span<const Tensor>;

// Refuses a device that tensors cannot live on. There is one CPU: "cpu:0" means the same as "cpu".
void check_device(Device device);
// The device that tensors made for `device` live on: its number is that of the current one where
// none is given.
Device actual_device(Device device);
// A new contiguous tensor with uninitialised elements.
Tensor make_tensor(IntSpan sizes, DType dtype, Device device);
// The same with strides that need not be contiguous but cover distinct elements without gaps in
// memory.
Tensor make_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device);
// New elements in the memory order of `like` when that is dense, else contiguous: PyTorch's
// preserve_format.
Tensor make_like(const Tensor& like, DType dtype, Device device);
inline Tensor make_like(const Tensor& like, DType dtype) {
  return make_like(like, dtype, like.device());
}
// Another view of the same storage. Refuses to reach outside of it.
Tensor as_view(const Tensor& base, IntSpan sizes, IntSpan strides, int64_t offset);
Tensor as_view(const Tensor& base, IntSpan sizes, IntSpan strides);
// The same unchecked: for views that by their own rules stay within the elements of `base`.
Tensor inner_view(const Tensor& base, IntSpan sizes, IntSpan strides, int64_t offset);
// A tensor over a storage made elsewhere.
Tensor tensor_over(Storage storage, IntSpan sizes, IntSpan strides, int64_t offset, DType dtype,
                   Device device);

// The same for a contiguous one at the storage's beginning, whose sizes are known to fit.
Tensor contiguous_over(Storage storage, IntSpan sizes, DType dtype, Device device);

// Whether the elements fill one block of memory without gaps or overlaps, whatever the order of
// their dimensions.
bool is_dense(IntSpan sizes, IntSpan strides);
// Strides for channels_last and channels_last_3d; contiguous ones for the others.
Dims strides_for(IntSpan sizes, MemoryFormat format);
// Dense strides in the same order of dimensions as `strides` has, without its gaps.
Dims dense_strides_like(IntSpan sizes, IntSpan strides);
// Whether elements share a memory cell because a dimension was expanded: an in-place write must
// refuse that.
bool has_internal_overlap(const Tensor& tensor);

// The type of `tensor([1.5])` and of division of integers; float32 unless set.
DType default_dtype();
void set_default_dtype(DType dtype);

}  // namespace fb
