// What single rows and bags of rows have in common.
#pragma once

#include "kernel/embedding.h"
#include "ops/types.h"

namespace fb::ops {

// What rows are summed in.
DType sum_type(DType dtype);
// Row numbers as contiguous int64; other types than int64 and int32 are refused.
Tensor index_numbers(const Tensor& indices, const char* name);
// The elements of a row side by side.
Tensor with_whole_rows(const Tensor& t);
kernel::RowTable table_of(const Tensor& rows);
// One over how often each number occurs.
Tensor reciprocal_counts(const Tensor& numbers, int64_t rows, DType type);
// -1 in place of a number.
Tensor without_number(const Tensor& numbers, int64_t number);
// A row counted from the end if below 0; -1 if there is none.
int64_t wrapped_padding(std::optional<int64_t> padding_idx, int64_t rows);

}  // namespace fb::ops
