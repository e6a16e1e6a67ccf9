// Masks: the positions where they are true, and the elements there.
#include "cpu/index.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Elements that are counted and then collected by one thread at a time.
constexpr int64_t kPiece = 16384;

// Where the true elements of every piece of the mask begin in the result; the last entry is their
// number.
std::vector<int64_t> starts_of_pieces(const Tensor& mask) {
  const int64_t n = mask.numel();
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  std::vector<int64_t> starts(static_cast<size_t>(pieces) + 1);
  const auto count = FB_KERNEL(count_true);
  const auto* data = mask.data_as<bool>();
  parallel_for(pieces, 4, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece)
      starts[static_cast<size_t>(piece) + 1] =
          count(std::min(kPiece, n - piece * kPiece), data + piece * kPiece);
  });
  for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  return starts;
}

// Calls f(first element, number of elements, where its true ones go, how many) for every piece.
template <class F>
void each_piece(const std::vector<int64_t>& starts, int64_t n, F&& f) {
  parallel_for(static_cast<int64_t>(starts.size()) - 1, 2, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t to = starts[static_cast<size_t>(piece)];
      f(piece * kPiece, std::min(kPiece, n - piece * kPiece), to,
        starts[static_cast<size_t>(piece) + 1] - to);
    }
  });
}

// Turns flat positions into coordinates, one column of the result per dimension.
void unravel(const Tensor& columns, IntSpan sizes, int64_t from, int64_t count) {
  const int64_t total = columns.sizes()[1];
  auto* data = columns.data_as<int64_t>();
  const int64_t* flat =
      data + (columns.sizes()[0] - 1) * total;  // the last column holds them until the end
  for (int64_t k = from; k < from + count; ++k) {
    int64_t rest = flat[k];
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t quotient = rest / sizes[d];
      data[static_cast<int64_t>(d) * total + k] = rest - quotient * sizes[d];
      rest = quotient;
    }
  }
}

}  // namespace

Tensor nonzero_columns(const Tensor& mask) {
  const std::vector<int64_t> starts = starts_of_pieces(mask);
  const int64_t dims = mask.dim();
  const int64_t count = starts.back();
  const Tensor columns = make_tensor({dims, count}, DType::kInt64, mask.device());
  if (dims == 0) return columns;
  auto* flat = columns.data_as<int64_t>() + (dims - 1) * count;
  const auto* data = mask.data_as<bool>();
  const auto run = FB_KERNEL(true_positions);
  each_piece(starts, mask.numel(), [&](int64_t first, int64_t n, int64_t to, int64_t found) {
    run(n, data + first, first, flat + to, found);
    if (dims > 1) unravel(columns, mask.sizes(), to, found);
  });
  return columns;
}

Tensor compress(const Tensor& input, const Tensor& mask) {
  const std::vector<int64_t> starts = starts_of_pieces(mask);
  Tensor out = make_tensor({starts.back()}, input.dtype(), input.device());
  const auto size = static_cast<int64_t>(input.element_size());
  const auto* source = static_cast<const char*>(input.data());
  const auto* data = mask.data_as<bool>();
  auto* target = static_cast<char*>(out.data());
  const auto run = FB_KERNEL(compress_run);
  each_piece(starts, mask.numel(), [&](int64_t first, int64_t n, int64_t to, int64_t found) {
    run(static_cast<size_t>(size), n, source + first * size, data + first, target + to * size,
        found);
  });
  return out;
}

void masked_fill(const Tensor& out, const Tensor& input, const Tensor& mask, const void* value) {
  const auto size = static_cast<int64_t>(out.element_size());
  const auto* source = static_cast<const char*>(input.data());
  const auto* data = mask.data_as<bool>();
  auto* target = static_cast<char*>(out.data());
  const auto run = FB_KERNEL(masked_fill_run);
  parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    run(static_cast<size_t>(size), end - begin, source + begin * size, data + begin, value,
        target + begin * size);
  });
}

}  // namespace fb::cpu
