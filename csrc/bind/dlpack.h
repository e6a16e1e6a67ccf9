// The structures of DLPack (https://dmlc.github.io/dlpack/latest/), versions 1.0 and before.
#pragma once

#include <cstdint>

namespace fb::dlpack {

// Kinds of device.
inline constexpr int32_t kCpu = 1, kCuda = 2, kCudaHost = 3;
// Kinds of element.
inline constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6;
// Bits of `flags`: nobody but the consumer uses the memory.
inline constexpr uint64_t kIsCopied = 2;

struct Version {
  uint32_t major;
  uint32_t minor;
};
inline constexpr Version kVersion = {1, 0};

struct DeviceId {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Array {
  void* data;
  DeviceId device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null means contiguous
  uint64_t byte_offset;
};

// What a capsule named "dltensor" holds.
struct Managed {
  static constexpr char kName[] = "dltensor";
  static constexpr char kUsedName[] = "used_dltensor";

  Array array;
  void* context;
  void (*deleter)(Managed*);
};

// What a capsule named "dltensor_versioned" holds.
struct ManagedVersioned {
  static constexpr char kName[] = "dltensor_versioned";
  static constexpr char kUsedName[] = "used_dltensor_versioned";

  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Array array;
};

}  // namespace fb::dlpack
