// Fourier transforms: what fits into shared memory by one kernel, longer rows as matrices whose
// sides are transformed one after the other, lengths with a large prime factor as convolutions.
#include "cuda/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "core/error.h"
#include "cuda/allocator.h"
#include "cuda/device/fft_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/stream.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::FftForm;
using device::FftSide;

TypedKernel rows_kernel("fft.cuh", "transform_rows", "FftArguments");
TypedKernel roots_kernel("fft.cuh", "root_element", "RootArguments");
TypedKernel chirp_in_kernel("fft.cuh", "chirp_in", "ChirpArguments");
TypedKernel chirp_out_kernel("fft.cuh", "chirp_out", "ChirpArguments");
TypedKernel chirp_row_kernel("fft.cuh", "chirp_row", "ChirpArguments");
TypedKernel multiply_kernel("fft.cuh", "multiply_spectrum", "SpectrumArguments");

// Where transforms run, and in which type.
struct Place {
  int device;
  DType dtype;  // float32 or float64

  size_t element() const { return 2 * size_of(dtype); }
  int64_t most_points() const { return device::kFftBytes / static_cast<int64_t>(element()); }
  Storage room(int64_t elements) const {
    return allocate(static_cast<size_t>(elements) * element(),
                    Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  }
  template <class Arguments>
  void each(TypedKernel& kernel, int64_t n, const Arguments& args) const {
    launch(device, kernel.on(device, dtype), {blocks_for(n, 256)}, 256, args);
  }
};

// Rows to transform. Their arguments say where they are; `points` there is set at the launch.
struct Rows {
  Place place;
  int64_t points;
  device::FftArguments args;

  // One more dimension, which becomes the fastest.
  void push(int64_t size, int64_t in_stride, int64_t out_stride, int64_t index) {
    FB_CHECK_AS(ErrorKind::kNotImplemented, args.dims < device::kFftDims,
                "no kernel on cuda for so many separate dimensions");
    args.sizes[args.dims] = size;
    args.in.strides[args.dims] = in_stride;
    args.out.strides[args.dims] = out_stride;
    args.index[args.dims++] = index;
    args.rows *= size;
  }
};

// --- tables, which are kept

enum class Table : int { kRoots, kFine, kCoarse, kChirp, kSpectrum };

struct KeptTable {
  Storage storage;
  Stream stream;
};
struct Tables {
  std::mutex mutex;
  std::map<std::tuple<int, DType, Table, int64_t>, KeptTable> kept;
  size_t bytes = 0;
};
auto* const tables = new Tables[kMaxDevices];

// `make` queues what fills the table, which is waited for: any stream may use it then.
template <class Make>
Storage table(const Place& place, Table kind, int64_t size, Make&& make) {
  constexpr size_t kMost = size_t{64} << 20;
  Tables& own = tables[place.device];
  const std::tuple key{place.device, place.dtype, kind, size};
  const Stream stream = current_stream(place.device);
  {
    const std::lock_guard lock(own.mutex);
    if (const auto found = own.kept.find(key); found != own.kept.end()) {
      if (found->second.stream != stream) use_on_stream(*found->second.storage.get(), stream);
      return found->second.storage;
    }
  }
  Storage made = make();
  if (made->bytes > kMost) return made;
  synchronize_stream(place.device, stream);
  const std::lock_guard lock(own.mutex);
  if (own.bytes + made->bytes > kMost) {
    own.kept.clear();
    own.bytes = 0;
  }
  if (own.kept.emplace(key, KeptTable{made, stream}).second) own.bytes += made->bytes;
  return made;
}

// exp(-2 pi i k step / size) for k < count.
Storage roots(const Place& place, Table kind, int64_t size, int64_t count, int64_t step) {
  return table(place, kind, size, [&] {
    Storage made = place.room(count);
    place.each(roots_kernel, count,
               device::RootArguments{made->data, count, 2 * step, size, false});
    return made;
  });
}

Storage chirp(const Place& place, int64_t size) {
  return table(place, Table::kChirp, size, [&] {
    Storage made = place.room(size);
    place.each(roots_kernel, size, device::RootArguments{made->data, size, 1, size, true});
    return made;
  });
}

// --- lengths without large prime factors

bool has_passes(int64_t n) {
  for (int p = 2; p <= device::kFftLargestRadix; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}

// Odd radices first: they write to all banks of shared memory.
void set_radices(device::FftArguments& args) {
  int64_t n = args.points;
  for (const int p : {3, 5, 7, 11, 13})
    for (; n % p == 0; n /= p) args.radices[args.passes++] = p;
  for (const int p : {8, 4, 2})
    for (; n % p == 0; n /= p) args.radices[args.passes++] = p;
}

// Whether neighbouring points are further apart than neighbouring rows.
bool lies_across(const device::FftArguments& args, const FftSide& side) {
  return args.dims > 0 && std::abs(side.strides[args.dims - 1]) < std::abs(side.stride);
}

// The first side of a matrix that has `n` points: all sides are about as long.
int64_t first_side(int64_t n, int64_t most) {
  const double size = std::log(static_cast<double>(n));
  const double sides = std::ceil(size / std::log(static_cast<double>(most)) - 1e-9);
  int64_t best = 1;
  for (int64_t side = 2; side <= most; ++side) {
    const auto apart = [&](int64_t s) {
      return std::abs(std::log(static_cast<double>(s)) - size / sides);
    };
    if (n % side == 0 && (best == 1 || apart(side) < apart(best))) best = side;
  }
  return best;
}

// `turned`: of how many points the rows and the last dimension are a part, whose roots the result
// is multiplied by; 0: it is not.
void run_once(Rows rows, int64_t turned) {
  const Place& place = rows.place;
  device::FftArguments& args = rows.args;
  args.points = static_cast<int>(rows.points);
  set_radices(args);
  const int64_t fitting = std::min<int64_t>(place.most_points() / rows.points, device::kFftRows);
  // Few rows are spread over many blocks.
  constexpr int64_t kEnoughBlocks = 512, kNeighbours = 8;
  args.rows_of_block = static_cast<int>(
      std::min(fitting, std::max<int64_t>(kNeighbours, args.rows / kEnoughBlocks)));
  const Storage all = roots(place, Table::kRoots, rows.points, rows.points, 1);
  args.roots = all->data;
  Storage fine, coarse;
  if (turned) {
    args.fine_bits = (std::bit_width(static_cast<uint64_t>(turned)) + 1) / 2;
    const int64_t count = int64_t{1} << args.fine_bits;
    fine = roots(place, Table::kFine, turned, count, 1);
    coarse = roots(place, Table::kCoarse, turned, (turned + count - 1) / count, count);
    args.fine = fine->data;
    args.coarse = coarse->data;
  }
  launch(place.device, rows_kernel.on(place.device, place.dtype),
         {blocks_for(args.rows, args.rows_of_block)}, 256, args);
}

void run(const Rows& rows) {
  const Place& place = rows.place;
  const int64_t most = place.most_points(), side = most / 4;
  const bool across = lies_across(rows.args, rows.args.in) || lies_across(rows.args, rows.args.out);
  if (rows.points <= (across ? side : most)) return run_once(rows, 0);
  // Point j n2 + i is transformed over j; then, turned, over i: the result's point is l n1 + k.
  const int64_t n1 = first_side(rows.points, side), n2 = rows.points / n1;
  const Storage between = place.room(rows.args.rows * rows.points);
  const FftSide kBetween{FftForm::kComplex, false, between->data, 0, 0, {}};
  Rows first = rows, second = rows;
  first.points = n1;
  first.args.in.stride *= n2;
  first.args.step *= n2;
  first.args.scale = 1;
  first.args.out = kBetween;
  first.args.out.stride = n2;
  second.points = n2;
  second.args.in = kBetween;
  second.args.in.stride = 1;
  second.args.out.stride *= n1;
  second.args.step *= n1;
  int64_t stride = rows.points;
  for (int d = rows.args.dims - 1; d >= 0; --d) {
    first.args.out.strides[d] = second.args.in.strides[d] = stride;
    stride *= rows.args.sizes[d];
  }
  first.push(n2, rows.args.in.stride, 1, rows.args.step);
  second.push(n1, n2, rows.args.out.stride, rows.args.step);
  run_once(first, rows.points);
  run(second);
}

// --- other lengths

// At least as many points as the convolution needs.
int64_t padded_size(int64_t least) {
  const auto n = static_cast<uint64_t>(least);
  uint64_t best = std::bit_ceil(n);
  for (const uint64_t odd : {3u, 5u, 9u, 15u})
    best = std::min(best, odd * std::bit_ceil((n + odd - 1) / odd));
  return static_cast<int64_t>(best);
}

// Contiguous rows of complex points, in place.
void run_in_place(const Place& place, void* data, int64_t count, int64_t points) {
  Rows rows{place, points, {}};
  rows.args.in.data = rows.args.out.data = data;
  rows.args.in.stride = rows.args.out.stride = 1;
  rows.args.size = points;
  rows.args.step = rows.args.rows = 1;
  rows.args.scale = 1;
  rows.push(count, points, points, 0);
  run(rows);
}

Storage spectrum_of(const Place& place, int64_t size, int64_t points, const void* numbers) {
  return table(place, Table::kSpectrum, size, [&] {
    Storage made = place.room(points);
    device::ChirpArguments args{};
    args.padded = made->data;
    args.chirp = numbers;
    args.size = size, args.points = points;
    args.scale = 1 / static_cast<double>(points);
    place.each(chirp_row_kernel, points, args);
    run_in_place(place, made->data, 1, points);
    return made;
  });
}

void run_by_convolution(const Rows& rows) {
  const Place& place = rows.place;
  const int64_t size = rows.points, points = padded_size(2 * size - 1);
  const Storage numbers = chirp(place, size);
  const Storage spectrum = spectrum_of(place, size, points, numbers->data);
  const int64_t count = rows.args.rows;
  const Storage padded = place.room(count * points);
  device::ChirpArguments args{};
  args.side = rows.args.in;
  args.padded = padded->data;
  args.chirp = numbers->data;
  args.size = size, args.points = points, args.rows = count;
  args.dims = rows.args.dims;
  std::copy_n(rows.args.sizes, args.dims, args.sizes);
  args.scale = rows.args.scale;
  place.each(chirp_in_kernel, count * points, args);
  run_in_place(place, padded->data, count, points);
  place.each(multiply_kernel, count * points,
             device::SpectrumArguments{padded->data, spectrum->data, count * points, points});
  run_in_place(place, padded->data, count, points);
  args.side = rows.args.out;
  place.each(chirp_out_kernel, count * size, args);
}

}  // namespace

void fft(const kernel::FftPlan& plan) {
  using kernel::FftKind;
  const Place place{place_of(plan.out), plan.real_dtype};
  use(place.device);
  Rows rows{place, plan.size, {}};
  device::FftArguments& args = rows.args;
  args.in = {plan.kind == FftKind::kFromReal ? FftForm::kReal
             : plan.kind == FftKind::kToReal ? FftForm::kHalf
                                             : FftForm::kComplex,
             plan.backward,
             const_cast<void*>(plan.in),
             plan.in_stride,
             plan.in_stride,
             {}};
  args.out = {plan.kind == FftKind::kToReal                       ? FftForm::kReal
              : plan.kind == FftKind::kFromReal && !plan.mirrored ? FftForm::kHalf
                                                                  : FftForm::kComplex,
              plan.backward,
              plan.out,
              plan.out_stride,
              plan.out_stride,
              {}};
  args.size = plan.size;
  args.step = args.rows = 1;
  args.scale = plan.scale;
  for (size_t d = 0; d < plan.batch.size(); ++d) {
    const int64_t size = plan.batch[d], in = plan.in_batch_strides[d],
                  out = plan.out_batch_strides[d];
    if (size == 1) continue;
    const int last = args.dims - 1;
    if (last >= 0 && args.in.strides[last] == in * size && args.out.strides[last] == out * size) {
      args.sizes[last] *= size;
      args.in.strides[last] = in;
      args.out.strides[last] = out;
      args.rows *= size;
    } else {
      rows.push(size, in, out, 0);
    }
  }
  if (args.rows == 0) return;
  has_passes(plan.size) ? run(rows) : run_by_convolution(rows);
}

}  // namespace fb::cuda
