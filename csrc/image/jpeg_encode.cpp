// Tensors into JPEG files.
#if defined(FB_HAVE_JPEG)

#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "image/jpeg.h"
#include "image/jpeg_errors.h"
#include "image/pixels.h"

namespace fb::image {
namespace {

// The output of libjpeg: memory that grows, which the C library can enlarge in place.
class Destination : public jpeg_destination_mgr {
 public:
  Destination() : jpeg_destination_mgr{} {
    init_destination = [](j_compress_ptr info) { of(info).grow(info); };
    empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).grow(info);
      return TRUE;
    };
    term_destination = [](j_compress_ptr) {};
  }
  ~Destination() { std::free(bytes_); }
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  Tensor written() const {
    const size_t size = capacity_ - free_in_buffer;
    Tensor file = make_tensor({static_cast<int64_t>(size)}, DType::kUInt8, kHost);
    std::memcpy(file.data(), bytes_, size);
    return file;
  }

 private:
  static constexpr size_t kFirst = 1 << 16;

  static Destination& of(j_compress_ptr info) { return *static_cast<Destination*>(info->dest); }

  // The library calls this when the memory is full.
  void grow(j_compress_ptr info) {
    const size_t capacity = capacity_ ? 2 * capacity_ : kFirst;
    auto* bytes = static_cast<uint8_t*>(std::realloc(bytes_, capacity));
    if (!bytes) JpegErrors::leave(reinterpret_cast<j_common_ptr>(info), "not enough memory");
    next_output_byte = bytes + capacity_;
    free_in_buffer = capacity - capacity_;
    bytes_ = bytes;
    capacity_ = capacity;
  }

  uint8_t* bytes_ = nullptr;
  size_t capacity_ = 0;
};

class Encoder {
 public:
  Encoder() {
    info_.err = errors_.manager();
    check(errors_.run([&] { jpeg_create_compress(&info_); }));
    info_.dest = &destination_;
  }
  ~Encoder() { jpeg_destroy_compress(&info_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // Of dense pixels, (height, width, channels).
  Tensor encode(const Tensor& pixels, int quality) {
    const int64_t row = pixels.sizes()[1] * pixels.sizes()[2];
    auto* data = pixels.data_as<uint8_t>();
    info_.image_height = static_cast<JDIMENSION>(pixels.sizes()[0]);
    info_.image_width = static_cast<JDIMENSION>(pixels.sizes()[1]);
    info_.input_components = static_cast<int>(pixels.sizes()[2]);
    info_.in_color_space = info_.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    check(errors_.run([&] {
      jpeg_set_defaults(&info_);
      jpeg_set_quality(&info_, quality, TRUE);
      jpeg_start_compress(&info_, TRUE);
      while (info_.next_scanline < info_.image_height) {
        JSAMPROW here = data + info_.next_scanline * row;
        jpeg_write_scanlines(&info_, &here, 1);
      }
      jpeg_finish_compress(&info_);
    }));
    return destination_.written();
  }

 private:
  void check(bool worked) { FB_CHECK(worked, errors_.message()); }

  JpegErrors errors_;
  Destination destination_;
  jpeg_compress_struct info_{};
};

}  // namespace

Tensor encode_jpeg(const Tensor& image, int quality) {
  constexpr int64_t kMost = JPEG_MAX_DIMENSION;
  const Tensor pixels = interleaved(image, false);
  const int64_t height = pixels.sizes()[0], width = pixels.sizes()[1];
  FB_CHECK(height <= kMost && width <= kMost, "a JPEG file has 1 to ", kMost,
           " rows and columns, got ", height, " x ", width);
  return Encoder().encode(pixels, quality);
}

}  // namespace fb::image

#endif
