// Helpers shared by lookups of single rows and of bags of rows.
#pragma once

#include "kernel/embedding.h"
#include "ops/types.h"

namespace fb::ops {

// The type that rows are summed in.
DType sum_type(DType dtype);
// Row numbers as contiguous int64; refuses types other than int64 and int32.
Tensor index_numbers(const Tensor& indices, const char* name);
// Makes the elements of each row adjacent in memory.
Tensor with_whole_rows(const Tensor& t);
kernel::RowTable table_of(const Tensor& rows);
// The reciprocal of how often each number occurs.
Tensor reciprocal_counts(const Tensor& numbers, int64_t rows, DType type);
// Replaces a number by -1.
Tensor without_number(const Tensor& numbers, int64_t number);
// A negative padding_idx counts from the end; -1 if there is none.
int64_t wrapped_padding(std::optional<int64_t> padding_idx, int64_t rows);

}  // namespace fb::ops
