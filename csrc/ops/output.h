// Writing results: `out=` arguments and tensors changed in place.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// What an operator asks of `out=`, in the words of OUT_RULES in opgen/model.py.
using OutRule = uint16_t;
constexpr OutRule kOutExact = 1, kOutTruth = 2, kOutAny = 4, kOutTypeError = 8, kOutRow = 16,
                  kOutQuiet = 32, kOutOrdered = 64, kOutWhole = 128, kOutApart = 256,
                  kOutChanged = 512;

// Refuses an `out` of a type that a result of type `result` may not be stored in.
void check_output_type(DType result, const Tensor& out, OutRule rule);
// Refuses an `out` that shares memory with `input`, if the rule forbids it.
void check_output_memory(const Tensor& out, const Tensor& input, bool is_first, OutRule rule);
// Gives `out` the shape of the result, and its strides if it had another shape, with new memory if
// it needs more.
void resize_output(const Tensor& out, IntSpan sizes, IntSpan strides, OutRule rule);
// Makes the storage large enough for contiguous elements of `sizes` where `out` begins.
void reserve_elements(const Tensor& out, IntSpan sizes);
// Refuses a target in which several elements share memory, as after expand().
void check_writable(const Tensor& out);
// Refuses a target that overlaps an input without being exactly the same elements.
void check_no_partial_overlap(const Tensor& out, const Tensor& input);

// Copies with conversion and broadcasting. Correct when the two share memory.
void copy_into(const Tensor& out, const Tensor& value);
// out=: resizes `out`, then copies; refuses what the rule does not allow.
void store_result(const Tensor& out, const Tensor& value, OutRule rule);
// An in-place form that has no kernel of its own: shape and type of `self` stay.
void overwrite(const Tensor& self, const Tensor& value);
// An in-place view such as t_(): `self` takes the sizes, strides and offset of `view`.
void become_view(const Tensor& self, const Tensor& view);

// A contiguous tensor with the same elements: `t` itself when it is one already.
Tensor contiguous(const Tensor& t);
// The same elements in another type: `t` itself when it has it already.
Tensor cast(const Tensor& t, DType dtype);
// New memory, in the memory order of `t` where that is dense.
Tensor copy_of(const Tensor& t);
// New memory, contiguous.
Tensor copy_contiguous(const Tensor& t);

}  // namespace fb::ops
