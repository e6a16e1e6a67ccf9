// The element types that exist as names only: programs list them in tables, compare with them and
// ask for their limits, but no tensor holds them.
#pragma once

#include <cstdint>

namespace fb::bind {

enum class NamedKind : uint8_t { kSigned, kUnsigned, kFloat, kUnsignedFloat, kComplex, kOpaque };

struct NamedDType {
  const char* name;
  const char* abbreviation;
  uint8_t size;
  NamedKind kind;       // kOpaque: quantised numbers and plain bits, which have no sign to ask for
  const char* instead;  // the type to suggest instead
};

inline constexpr NamedDType kNamedDTypes[] = {
    {"uint16", "u16", 2, NamedKind::kUnsigned, "int32"},
    {"uint32", "u32", 4, NamedKind::kUnsigned, "int64"},
    {"uint64", "u64", 8, NamedKind::kUnsigned, "int64"},
    {"complex32", "c32", 4, NamedKind::kComplex, "complex64"},
    {"float8_e4m3fn", "f8e4m3fn", 1, NamedKind::kFloat, "bfloat16"},
    {"float8_e5m2", "f8e5m2", 1, NamedKind::kFloat, "bfloat16"},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1, NamedKind::kFloat, "bfloat16"},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1, NamedKind::kFloat, "bfloat16"},
    {"float8_e8m0fnu", "f8e8m0fnu", 1, NamedKind::kUnsignedFloat, "bfloat16"},
    {"float4_e2m1fn_x2", "f4e2m1fnx2", 1, NamedKind::kFloat, "bfloat16"},
    {"int1", "int1", 1, NamedKind::kSigned, "int8"},
    {"int2", "int2", 1, NamedKind::kSigned, "int8"},
    {"int3", "int3", 1, NamedKind::kSigned, "int8"},
    {"int4", "int4", 1, NamedKind::kSigned, "int8"},
    {"int5", "int5", 1, NamedKind::kSigned, "int8"},
    {"int6", "int6", 1, NamedKind::kSigned, "int8"},
    {"int7", "int7", 1, NamedKind::kSigned, "int8"},
    {"uint1", "uint1", 1, NamedKind::kUnsigned, "uint8"},
    {"uint2", "uint2", 1, NamedKind::kUnsigned, "uint8"},
    {"uint3", "uint3", 1, NamedKind::kUnsigned, "uint8"},
    {"uint4", "uint4", 1, NamedKind::kUnsigned, "uint8"},
    {"uint5", "uint5", 1, NamedKind::kUnsigned, "uint8"},
    {"uint6", "uint6", 1, NamedKind::kUnsigned, "uint8"},
    {"uint7", "uint7", 1, NamedKind::kUnsigned, "uint8"},
    {"qint8", "qint8", 1, NamedKind::kOpaque, "int8"},
    {"quint8", "quint8", 1, NamedKind::kOpaque, "uint8"},
    {"qint32", "qint32", 4, NamedKind::kOpaque, "int32"},
    {"quint4x2", "quint4x2", 1, NamedKind::kOpaque, "uint8"},
    {"quint2x4", "quint2x4", 1, NamedKind::kOpaque, "uint8"},
    {"bits1x8", "b1x8", 1, NamedKind::kOpaque, "uint8"},
    {"bits2x4", "b2x4", 1, NamedKind::kOpaque, "uint8"},
    {"bits4x2", "b4x2", 1, NamedKind::kOpaque, "uint8"},
    {"bits8", "b8x1", 1, NamedKind::kOpaque, "uint8"},
    {"bits16", "b16x1", 2, NamedKind::kOpaque, "int16"},
};

}  // namespace fb::bind
