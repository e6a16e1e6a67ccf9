// Questions about a tensor.
#include "gen/ops/info.h"

#include "autograd/batch.h"
#include "core/device_memory.h"
#include "core/shared_memory.h"
#include "core/unseen.h"
#include "ops/host.h"
#include "ops/layout.h"

namespace fb::ops {
namespace {

Scalar only_element(const Tensor& input, const char* what) {
  FB_CHECK(input.numel() == 1, "a Tensor with ", input.numel(), " elements cannot be converted to ",
           what);
  return host_number(input);
}

}  // namespace

int64_t numel(const Tensor& input) { return input.numel(); }
int64_t nelement(const Tensor& input) { return input.numel(); }
int64_t dim(const Tensor& input) { return input.dim(); }

Dims size(const Tensor& input) { return input.sizes().vec(); }

int64_t size(const Tensor& input, int64_t dim) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor has no size along dim ", dim);
  return input.size(dim);
}

std::vector<int64_t> stride(const Tensor& input) {
  settle(input);
  return {input.strides().begin(), input.strides().end()};
}

int64_t stride(const Tensor& input, int64_t dim) {
  FB_CHECK_INDEX(input.dim() > 0, "a 0-dimensional tensor has no stride along dim ", dim);
  settle(input);
  return input.stride(dim);
}

int64_t storage_offset(const Tensor& input) { return input.offset(); }

bool is_contiguous(const Tensor& input, std::optional<MemoryFormat> memory_format) {
  FB_CHECK(memory_format != MemoryFormat::kPreserve, "memory_format must not be preserve_format");
  if (input->deferred_layout) return !memory_format || memory_format == MemoryFormat::kContiguous;
  return input.is_contiguous(memory_format.value_or(MemoryFormat::kContiguous));
}

int64_t element_size(const Tensor& input) { return static_cast<int64_t>(input.element_size()); }

int64_t data_ptr(const Tensor& input) {
  autograd::check_has_elements(input, "data_ptr");
  settle(input);
  note_address_taken();
  return input.numel() == 0 ? 0 : reinterpret_cast<int64_t>(input.data());
}

int64_t get_device(const Tensor& input) { return input.device().index; }
bool is_floating_point(const Tensor& input) { return is_floating(input.dtype()); }
bool is_complex(const Tensor& input) { return fb::is_complex(input.dtype()); }
bool is_signed(const Tensor& input) { return fb::is_signed(input.dtype()); }
bool is_conj(const Tensor&) { return false; }
bool is_neg(const Tensor&) { return false; }
bool is_inference(const Tensor& input) { return input->flags & kInference; }
// Views of inference tensors are not followed: nothing is recorded for them.
bool _is_view(const Tensor& input) { return input->base && !(input->flags & kInference); }
bool is_nonzero(const Tensor& input) {
  autograd::check_no_branch(input);
  return only_element(input, "bool").to<bool>();
}
bool is_same_size(const Tensor& input, const Tensor& other) {
  return input.sizes() == other.sizes();
}

bool is_set_to(const Tensor& input, const Tensor& tensor) {
  return input.storage() == tensor.storage() && input.offset() == tensor.offset() &&
         input.sizes() == tensor.sizes() && input.strides() == tensor.strides();
}

bool is_pinned(const Tensor& input) {
  return is_page_locked && input.device() == kHost && input->storage->data &&
         is_page_locked(input->storage->data);
}
bool is_shared(const Tensor& input) { return fb::is_shared(input.storage()); }

}  // namespace fb::ops
