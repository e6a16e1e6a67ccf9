// Writing results: `out=` arguments and changes in place.
#include "ops/output.h"

#include "core/checked.h"
#include "core/warning.h"
#include "kernel/table.h"

namespace fb::ops {
namespace {

struct ByteRange {
  const char* begin;
  const char* end;
};

ByteRange range_of(const Tensor& t) {
  int64_t extent = t.numel() == 0 ? 0 : 1;
  for (int64_t i = 0; i < t.dim() && t.numel() > 0; ++i)
    extent += (t.sizes()[i] - 1) * t.strides()[i];
  const auto* begin = static_cast<const char*>(t.data());
  return {begin, begin + extent * static_cast<int64_t>(t.element_size())};
}

bool may_share_memory(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const ByteRange x = range_of(a);
  const ByteRange y = range_of(b);
  return x.begin < y.end && y.begin < x.end;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (a.strides() == b.strides() || a.numel() == 1);
}

enum class Sharing { kNone, kSome, kAll };

// Which elements of one tensor lie in the memory of the other. Strided views may interleave without
// sharing an element, so they count as not sharing.
Sharing sharing(const Tensor& a, const Tensor& b) {
  if (a.storage()->data != b.storage()->data || !may_share_memory(a, b)) return Sharing::kNone;
  if (a.is_same(b) || same_elements(a, b)) return Sharing::kAll;
  const bool dense = is_dense(a.sizes(), a.strides()) && is_dense(b.sizes(), b.strides());
  return dense ? Sharing::kSome : Sharing::kNone;
}

[[noreturn, gnu::cold]] void refuse_sharing() {
  fail(ErrorKind::kRuntime,
       "unsupported operation: some elements of the input tensor and the written-to tensor refer "
       "to a single memory location; clone() the tensor before the operation");
}

}  // namespace

void check_output_type(DType result, const Tensor& out, OutRule rule) {
  const DType given = out.dtype();
  if (given == result || rule & kOutAny) return;
  FB_CHECK(!(rule & kOutExact), "expected an out of the result's type ", result, ", got ", given);
  FB_CHECK(!(rule & kOutTruth) || given == DType::kBool || given == DType::kUInt8,
           "expected an out of type bool or uint8, got ", given);
  if (can_cast(result, given)) return;
  fail(rule & kOutTypeError ? ErrorKind::kType : ErrorKind::kRuntime, "a result of type ", result,
       " can't be cast to the desired output type ", given);
}

void check_output_memory(const Tensor& out, const Tensor& input, bool is_first, OutRule rule) {
  const Sharing found = sharing(out, input);
  const bool may_be_it = rule & kOutWhole || (rule & kOutChanged && is_first);
  if (found == Sharing::kSome || (found == Sharing::kAll && !may_be_it)) refuse_sharing();
}

void resize_output(const Tensor& out, IntSpan sizes, IntSpan strides, OutRule rule) {
  if (out.sizes() == sizes) return;
  if (out.numel() != 0 && !(rule & kOutQuiet))
    warn("An output with one or more elements was resized since it had shape ", out.sizes(),
         " and the result has shape ", sizes,
         "; pass an empty one, or call resize_(0) on it before");
  reserve_elements(out, sizes);
  if (rule & kOutOrdered || !is_dense(sizes, strides))
    out->set_contiguous(sizes, numel_of(sizes));
  else
    out->set_geometry(sizes, strides);
}

void reserve_elements(const Tensor& out, IntSpan sizes) {
  const size_t bytes = bytes_to_hold(sizes, out.offset(), out.element_size());
  if (bytes > out.storage()->bytes) Storage(out.storage()).resize(bytes);
}

void check_writable(const Tensor& out) {
  FB_CHECK(
      !has_internal_overlap(out),
      "unsupported operation: more than one element of the written-to tensor refers to a single "
      "memory location; clone() the tensor before writing to it");
}

void check_no_partial_overlap(const Tensor& out, const Tensor& input) {
  if (sharing(out, input) == Sharing::kSome) refuse_sharing();
}

void copy_into(const Tensor& out, const Tensor& value) {
  if (out.is_same(value)) return;
  check_writable(out);
  const Dims strides = broadcast_strides(value.sizes(), value.strides(), out.sizes());
  Tensor source = as_view(value, out.sizes(), strides);
  if (may_share_memory(out, source)) {
    if (same_elements(out, source)) return;
    Tensor apart = make_tensor(source.sizes(), source.dtype(), source.device());
    kernel::copy(apart, source);
    source = apart;
  }
  kernel::copy(out, source);
}

void store_result(const Tensor& out, const Tensor& value, OutRule rule) {
  check_output_type(value.dtype(), out, rule);
  if (rule & kOutRow && out.numel() == value.numel()) {
    copy_into(out, as_view(contiguous(value), out.sizes(), contiguous_strides(out.sizes())));
    return;
  }
  if (value->deferred_layout) rule |= kOutOrdered;
  resize_output(out, value.sizes(), value.strides(), rule);
  copy_into(out, value);
}

void overwrite(const Tensor& self, const Tensor& value) {
  check_output_type(value.dtype(), self, 0);
  FB_CHECK(value.sizes() == self.sizes(), "the result's shape ", value.sizes(),
           " is not the shape of the tensor to change, ", self.sizes());
  copy_into(self, value);
}

void become_view(const Tensor& self, const Tensor& view) {
  self->set_geometry(view.sizes(), view.strides());
  self->offset = view.offset();
}

Tensor contiguous(const Tensor& t) { return t.is_contiguous() ? t : copy_contiguous(t); }

Tensor copy_contiguous(const Tensor& t) {
  Tensor out = make_tensor(t.sizes(), t.dtype(), t.device());
  kernel::copy(out, t);
  return out;
}

Tensor cast(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  Tensor out = make_like(t, dtype);
  kernel::copy(out, t);
  return out;
}

Tensor copy_of(const Tensor& t) {
  Tensor out = make_like(t, t.dtype());
  kernel::copy(out, t);
  return out;
}

}  // namespace fb::ops
