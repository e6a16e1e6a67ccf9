// JPEG files into tensors.
#if defined(FB_HAVE_JPEG)

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "image/cmyk.h"
#include "image/exif.h"
#include "image/jpeg.h"
#include "image/jpeg_errors.h"

namespace fb::image {
namespace {

// No program writes files with more scans; each may take as much time as a whole image.
constexpr int kMostScans = 500;
// Rows are requested in groups: the library returns at most two at a time.
constexpr JDIMENSION kRows = 2;
constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr char kExifName[6] = {'E', 'x', 'i', 'f', 0, 0};

class Decoder {
 public:
  Decoder(std::span<const uint8_t> file, const Options& options, const std::string& name)
      : name_(name), options_(options) {
    info_.err = errors_.manager();
    check(errors_.run([&] { jpeg_create_decompress(&info_); }));
    give(file);
    watch();
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Tensor decode() {
    read_header();
    const int stands = orientation();  // the library drops it after the last row
    const int channels = wanted_channels();
    const int64_t height = info_.output_height, width = info_.output_width;
    Tensor image = make_strided({channels, height, width}, {1, width * channels, channels},
                                DType::kUInt8, kHost);
    if (channels == info_.out_color_components)
      read_rows(image.data_as<uint8_t>());
    else
      read_inks(image.data_as<uint8_t>(), channels);
    return oriented(image, stands);
  }

 private:
  void check(bool worked) { FB_CHECK(worked, name_, ": ", errors_.message()); }

  void give(std::span<const uint8_t> file) {
    source_.next_input_byte = file.data();
    source_.bytes_in_buffer = file.size();
    source_.init_source = source_.term_source = [](j_decompress_ptr) {};
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.fill_input_buffer = [](j_decompress_ptr info) -> boolean { ends(info); };
    source_.skip_input_data = [](j_decompress_ptr info, long count) {
      if (count <= 0) return;
      if (static_cast<size_t>(count) > info->src->bytes_in_buffer) ends(info);
      info->src->next_input_byte += count;
      info->src->bytes_in_buffer -= static_cast<size_t>(count);
    };
    info_.src = &source_;
  }

  [[noreturn]] static void ends(j_decompress_ptr info) {
    JpegErrors::leave(reinterpret_cast<j_common_ptr>(info), "Image is incomplete or truncated");
  }

  void watch() {
    progress_.progress_monitor = [](j_common_ptr info) {
      if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans)
        JpegErrors::leave(info, "Image has more than 500 scans");
    };
    info_.progress = &progress_;
  }

  void read_header() {
    check(errors_.run([&] {
      if (options_.upright) jpeg_save_markers(&info_, kExifMarker, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    }));
    check_pixels(info_.image_width, info_.image_height, options_, name_);
    const bool has_inks = info_.out_color_space == JCS_CMYK;
    if (options_.channels == Channels::kGray && !has_inks) info_.out_color_space = JCS_GRAYSCALE;
    if (options_.channels == Channels::kRgb && !has_inks) info_.out_color_space = JCS_RGB;
    check(errors_.run([&] { jpeg_calc_output_dimensions(&info_); }));
  }

  int wanted_channels() const {
    switch (options_.channels) {
      case Channels::kGray: return 1;
      case Channels::kRgb: return 3;
      default: return info_.out_color_components;
    }
  }

  void read_rows(uint8_t* pixels) {
    const int64_t row = int64_t{info_.output_width} * info_.out_color_components;
    check(errors_.run([&] {
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        const JDIMENSION left = info_.output_height - info_.output_scanline;
        const JDIMENSION count = std::min(kRows, left);
        JSAMPROW rows[kRows];
        for (JDIMENSION i = 0; i < count; ++i) rows[i] = pixels + (info_.output_scanline + i) * row;
        jpeg_read_scanlines(&info_, rows, count);
      }
      jpeg_finish_decompress(&info_);
    }));
  }

  // Images for print have four inks, which are converted.
  void read_inks(uint8_t* pixels, int channels) {
    const int64_t width = info_.output_width;
    std::vector<uint8_t> inks(static_cast<size_t>(width) * info_.out_color_components);
    check(errors_.run([&] {
      jpeg_start_decompress(&info_);
      JSAMPROW row = inks.data();
      for (; info_.output_scanline < info_.output_height; pixels += width * channels) {
        jpeg_read_scanlines(&info_, &row, 1);
        cmyk_to_light(inks.data(), width, pixels, channels);
      }
      jpeg_finish_decompress(&info_);
    }));
  }

  int orientation() const {
    for (const jpeg_marker_struct* each = info_.marker_list; each; each = each->next) {
      const std::span<const uint8_t> data(each->data, each->data_length);
      if (each->marker == kExifMarker && data.size() > sizeof(kExifName) &&
          std::memcmp(data.data(), kExifName, sizeof(kExifName)) == 0)
        return exif_orientation(data.subspan(sizeof(kExifName)));
    }
    return 1;
  }

  const std::string& name_;
  const Options& options_;
  JpegErrors errors_;
  jpeg_decompress_struct info_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
};

}  // namespace

Tensor decode_jpeg(std::span<const uint8_t> file, const Options& options, const std::string& name) {
  return Decoder(file, options, name).decode();
}

}  // namespace fb::image

#endif
