// Batches of sequences of different lengths: padded to one length, and packed without padding.
#include <algorithm>
#include <numeric>

#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/rnn.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/host.h"

namespace fb::ops {
namespace {

// Where step t of sequence b is among the rows of a padded batch.
struct Padded {
  int64_t steps, batch;
  bool batch_first;

  int64_t row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t rows() const { return numel_of({steps, batch}); }
  // The shape of a batch of such elements as rows, and as it is.
  Dims as_rows(IntSpan element) const {
    Dims sizes = element.vec();
    sizes.insert(0, rows());
    return sizes;
  }
  Dims whole(IntSpan element) const {
    Dims sizes = element.vec();
    sizes.insert(0, batch_first ? steps : batch);
    sizes.insert(0, batch_first ? batch : steps);
    return sizes;
  }
};

// A padded batch that has the rows of `data` at `positions`.
Tensor spread(const Tensor& data, const std::vector<int64_t>& positions, const Padded& padded,
              const Scalar& value) {
  const IntSpan element = data.sizes().last(data.sizes().size() - 1);
  const Tensor base = ops::full(padded.as_rows(element), value, data.dtype(), data.device());
  return ops::reshape(ops::index_copy(base, 0, device_integers(positions, data.device()), data),
                      padded.whole(element));
}

void check_lengths(const std::vector<int64_t>& lengths, const Padded& padded) {
  FB_CHECK(static_cast<int64_t>(lengths.size()) == padded.batch,
           "expected `len(lengths)` to be equal to batch_size, but got ", lengths.size(),
           " (batch_size=", padded.batch, ")");
  FB_CHECK(std::is_sorted(lengths.rbegin(), lengths.rend()),
           "`lengths` must be sorted in decreasing order when `enforce_sorted` is True; pass "
           "`enforce_sorted=False` to have them sorted, got ",
           IntSpan(lengths));
  FB_CHECK(lengths.back() > 0, "the length of every sample has to be greater than 0, got ",
           IntSpan(lengths));
  FB_CHECK(lengths[0] <= padded.steps, "a sequence of length ", lengths[0],
           " does not fit an input of ", padded.steps, " steps");
}

void check_batch_sizes(const std::vector<int64_t>& active, const Tensor& data) {
  FB_CHECK(data.dim() > 0, "expected packed data of at least one dimension, got a single number");
  FB_CHECK(!active.empty(), "expected batch_sizes of at least one step");
  const bool shrinks = std::is_sorted(active.rbegin(), active.rend()) && active.back() >= 0;
  FB_CHECK(shrinks && active[0] <= data.size(0) &&
               std::reduce(active.begin(), active.end()) == data.size(0),
           "expected batch_sizes that do not grow and add up to the ", data.size(0),
           " rows of data ", data.sizes(), ", got ", IntSpan(active));
}

}  // namespace

std::tuple<Tensor, Tensor> pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                                bool batch_first) {
  FB_CHECK(lengths.dim() == 1, "`lengths` must be a vector, got shape ", lengths.sizes());
  const Padded padded{input.size(batch_first ? 1 : 0), input.size(batch_first ? 0 : 1),
                      batch_first};
  FB_CHECK(input.numel() > 0, "cannot pack an empty tensor of shape ", input.sizes());
  const std::vector<int64_t> length = host_integers(lengths);
  check_lengths(length, padded);
  std::vector<int64_t> positions, batch_sizes;
  auto active = static_cast<int64_t>(length.size());
  for (int64_t t = 0; t < length[0]; ++t) {
    while (length[static_cast<size_t>(active - 1)] <= t) --active;
    for (int64_t b = 0; b < active; ++b) positions.push_back(padded.row(t, b));
    batch_sizes.push_back(active);
  }
  const IntSpan element = input.sizes().last(input.sizes().size() - 2);
  const Tensor rows = ops::reshape(input, padded.as_rows(element));
  return {ops::index_select(rows, 0, device_integers(positions, rows.device())),
          device_integers(batch_sizes, kHost)};
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes,
                                               bool batch_first, const Scalar& padding_value,
                                               int64_t total_length) {
  const std::vector<int64_t> active = host_integers(batch_sizes);
  check_batch_sizes(active, data);
  const auto steps = static_cast<int64_t>(active.size());
  FB_CHECK_VALUE(total_length <= 0 || total_length >= steps,
                 "expected total_length to be at least the length of the longest sequence in "
                 "input, but got total_length=",
                 total_length, " and max sequence length being ", steps);
  const Padded padded{std::max(total_length, steps), active[0], batch_first};
  padded.rows();  // refuses sizes beyond 63 bits
  std::vector<int64_t> positions, lengths(static_cast<size_t>(active[0]));
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t b = 0; b < active[static_cast<size_t>(t)]; ++b) {
      positions.push_back(padded.row(t, b));
      lengths[static_cast<size_t>(b)] = t + 1;
    }
  }
  return {spread(data, positions, padded, padding_value), device_integers(lengths, kHost)};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, const Scalar& padding_value,
                    const std::string& padding_side) {
  FB_CHECK(!sequences.empty(), "received an empty list of sequences");
  FB_CHECK(padding_side == "left" || padding_side == "right",
           "expected padding_side to be one of left or right, but got ", padding_side);
  Padded padded{0, static_cast<int64_t>(sequences.size()), batch_first};
  for (const Tensor& sequence : sequences) {
    FB_CHECK(sequence.dim() > 0, "expected sequences of at least one dimension, got shape ",
             sequence.sizes());
    const IntSpan element = sequence.sizes().last(sequence.sizes().size() - 1);
    const IntSpan first = sequences[0].sizes().last(sequences[0].sizes().size() - 1);
    FB_CHECK(element == first, "sequences of shapes ", sequences[0].sizes(), " and ",
             sequence.sizes(), " differ beyond the first dimension");
    padded.steps = std::max(padded.steps, sequence.size(0));
  }
  std::vector<int64_t> positions;
  for (int64_t b = 0; b < padded.batch; ++b) {
    const int64_t length = sequences[static_cast<size_t>(b)].size(0);
    const int64_t first = padding_side == "left" ? padded.steps - length : 0;
    for (int64_t t = 0; t < length; ++t) positions.push_back(padded.row(first + t, b));
  }
  return spread(ops::cat(sequences, 0), positions, padded, padding_value);
}

}  // namespace fb::ops
