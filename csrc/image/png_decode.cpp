// PNG files into tensors: the rows of a file, unfiltered, as pixels of the channels that are asked
// for.
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "image/exif.h"
#include "image/inflate.h"
#include "image/png.h"
#include "image/png_file.h"
#include "image/png_filters.h"

namespace fb::image {
namespace {

// The pixels of an interlaced file are stored as seven images, each a grid in the whole one.
struct Grid {
  int left, top, across, down;

  int64_t width(int64_t whole) const { return (whole - left + across - 1) / across; }
  int64_t height(int64_t whole) const { return (whole - top + down - 1) / down; }
};
constexpr Grid kWhole[] = {{0, 0, 1, 1}};
constexpr Grid kInterlaced[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

int channels_of(const PngHeader& header, Channels wanted) {
  return wanted == Channels::kUnchanged ? header.samples() : static_cast<int>(wanted);
}

// libpng's weights of colours in 2^-15; it rounds bytes down and wider numbers to the nearest.
template <class T>
int brightness(int red, int green, int blue) {
  constexpr int kHalf = sizeof(T) == 1 ? 0 : 1 << 14;
  return static_cast<int>((9794u * red + 19234u * green + 3740u * blue + kHalf) >> 15);
}

// Pixels of `from` samples as pixels of `to` channels.
template <class T, class Out>
void map_pixels(const T* in, int from, Out* out, int to, int64_t count, const T* transparent) {
  constexpr int kOpaque = static_cast<T>(~T{0});
  const bool is_gray = from <= 2;
  for (int64_t i = 0; i < count; ++i, in += from, out += to) {
    const int red = in[0], green = is_gray ? red : in[1], blue = is_gray ? red : in[2];
    if (to >= 3) {
      out[0] = static_cast<Out>(red);
      out[1] = static_cast<Out>(green);
      out[2] = static_cast<Out>(blue);
    } else {
      out[0] = static_cast<Out>(is_gray ? red : brightness<T>(red, green, blue));
    }
    if (to % 2 == 1) continue;
    int opacity = from % 2 == 0 ? in[from - 1] : kOpaque;
    if (transparent && std::equal(transparent, transparent + from, in)) opacity = 0;
    out[to - 1] = static_cast<Out>(opacity);
  }
}

class Decoder {
 public:
  Decoder(const PngFile& file, const Options& options, const std::string& name)
      : file_(file),
        header_(file.header),
        name_(name),
        is_mapped_(header_.color == PngColor::kPalette && options.channels != Channels::kUnchanged),
        channels_(channels_of(header_, options.channels)),
        samples_(is_mapped_ ? 4 : header_.samples()) {}

  Tensor decode() {
    const int64_t height = header_.height, width = header_.width;
    const bool is_wide = header_.depth == 16;
    const std::span<const Grid> grids =
        header_.is_interlaced ? std::span<const Grid>(kInterlaced) : std::span<const Grid>(kWhole);
    expand(grids);
    Tensor image = make_strided({channels_, height, width}, {1, width * channels_, channels_},
                                is_wide ? DType::kInt32 : DType::kUInt8, kHost);
    auto* rows = raw_.data_as<uint8_t>();
    for (const Grid& grid : grids)
      rows = is_wide ? unpack<uint16_t, int32_t>(grid, rows, image)
                     : unpack<uint8_t, uint8_t>(grid, rows, image);
    return image;
  }

 private:
  // The filtered rows of all grids, each after the number of its filter.
  void expand(std::span<const Grid> grids) {
    int64_t size = 0;
    for (const Grid& grid : grids) size += bytes_of(grid);
    // zlib compresses by a factor of 1032 at most: refuses a short file before memory is allocated.
    const auto known = static_cast<int64_t>(file_.compressed_size());
    FB_CHECK(size / 1032 <= known, name_, ": Image is incomplete or truncated");
    raw_ = make_tensor({size + static_cast<int64_t>(kInflateSlack)}, DType::kUInt8, kHost);
    FB_CHECK(inflate({file_.compressed.data(), file_.compressed_size()},
                     {raw_.data_as<uint8_t>(), static_cast<size_t>(size)}),
             name_, ": Image is incomplete, truncated or damaged");
  }

  int64_t bytes_of(const Grid& grid) const {
    const int64_t width = grid.width(header_.width), height = grid.height(header_.height);
    return width > 0 && height > 0 ? height * (1 + header_.row_bytes(width)) : 0;
  }

  // Stores the pixels of a grid at their positions; returns the end of its rows.
  template <class T, class Out>
  uint8_t* unpack(const Grid& grid, uint8_t* rows, const Tensor& image) {
    const int64_t width = grid.width(header_.width), height = grid.height(header_.height);
    if (width <= 0 || height <= 0) return rows;
    const auto size = static_cast<size_t>(header_.row_bytes(width));
    const int pixel = std::max(1, header_.pixel_bits() / 8);
    const std::vector<uint8_t> nothing(size + kRowSlack);
    const uint8_t* above = nothing.data();
    std::vector<Out> line(grid.across == 1 ? 0 : static_cast<size_t>(width * channels_));
    for (int64_t y = 0; y < height; ++y, rows += size + 1) {
      FB_CHECK(*rows < kPngFilters, name_, ": damaged, a row has filter ", int{*rows});
      Out* to = image.data_as<Out>() + (grid.top + y * grid.down) * header_.width * channels_;
      const bool is_direct = line.empty() && rows_are_pixels();
      uint8_t* row = is_direct ? reinterpret_cast<uint8_t*>(to) : rows + 1;
      unfilter(static_cast<PngFilter>(*rows), rows + 1, above, row, size, pixel);
      above = row;
      if (is_direct) continue;
      convert<T>(row, line.empty() ? to : line.data(), width);
      for (size_t x = 0; x < line.size(); ++x)
        to[(grid.left + static_cast<int64_t>(x) / channels_ * grid.across) * channels_ +
           static_cast<int64_t>(x) % channels_] = line[x];
    }
    return rows;
  }

  // Whether rows are pixels already.
  bool rows_are_pixels() const {
    return header_.depth == 8 && !is_mapped_ && samples_ == channels_;
  }

  template <class T, class Out>
  void convert(const uint8_t* row, Out* to, int64_t width) {
    natural_.resize(static_cast<size_t>(width * samples_) * sizeof(T));
    T* samples = reinterpret_cast<T*>(natural_.data());
    if (is_mapped_)
      for (int64_t x = 0; x < width; ++x)
        std::copy_n(file_.palette[bits_at(row, x)].data(), 4, samples + 4 * x);
    else
      for (int64_t i = 0; i < width * samples_; ++i) samples[i] = sample<T>(row, i);
    if (samples_ == channels_ && !is_transparent()) {
      std::copy_n(samples, width * channels_, to);
      return;
    }
    T transparent[3] = {};
    if (is_transparent())
      for (int i = 0; i < samples_; ++i)
        transparent[i] = static_cast<T>((*file_.transparent)[static_cast<size_t>(i)] * scale());
    map_pixels(samples, samples_, to, channels_, width, is_transparent() ? transparent : nullptr);
  }

  bool is_transparent() const { return file_.transparent && channels_ % 2 == 0; }

  // Grey levels of fewer bits are scaled to a byte; palette indices are not.
  int scale() const {
    return header_.color == PngColor::kPalette || header_.depth >= 8
               ? 1
               : 255 / ((1 << header_.depth) - 1);
  }

  int bits_at(const uint8_t* row, int64_t i) const {
    const int depth = header_.depth;
    if (depth == 8) return row[i];
    const int64_t bit = i * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1 << depth) - 1);
  }

  template <class T>
  T sample(const uint8_t* row, int64_t i) const {
    if constexpr (sizeof(T) == 2) return static_cast<T>(row[2 * i] << 8 | row[2 * i + 1]);
    return static_cast<T>(bits_at(row, i) * scale());
  }

  const PngFile& file_;
  const PngHeader& header_;
  const std::string& name_;
  const bool is_mapped_;  // palette indices become colours
  const int channels_;    // of the result
  const int samples_;     // of a pixel before it is given those channels
  Tensor raw_;            // a tensor: the allocator keeps memory of that size for the next one
  std::vector<uint8_t> natural_;  // a row of samples
};

}  // namespace

Tensor decode_png(std::span<const uint8_t> file, const Options& options, const std::string& name) {
  const PngFile parts = read_png(file, options, name);
  return oriented(Decoder(parts, options, name).decode(), parts.orientation);
}

}  // namespace fb::image
