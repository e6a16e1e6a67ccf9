// Element types shared by the CPU and CUDA: Half, BFloat16, Complex. No system headers: NVRTC reads
// this file too.
#pragma once

#if defined(__CUDACC__)
#define FB_FN __host__ __device__ inline
#elif defined(__clang__) && defined(__x86_64__)
// By the usual convention Clang passes a pair of floats as one vector, also to what it inlines, and
// then makes no vectors of loops over complex numbers. By this one it passes two floats.
#define FB_FN inline __attribute__((always_inline, regcall))
#else
#define FB_FN inline __attribute__((always_inline))
#endif

namespace fb {

template <class To, class From>
FB_FN To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// IEEE binary16. Arithmetic happens in float: convert, compute, convert back.
struct Half {
  unsigned short bits;

  Half() = default;
  FB_FN explicit Half(float value) : bits(from_float(value)) {}
  FB_FN explicit operator float() const { return to_float(bits); }

  // Branch-free arithmetic, because loops over it vectorise; over the machine's conversion
  // instruction they do not (GCC 12), and run at a quarter of the speed.
  static FB_FN unsigned short from_float(float value) {
    const unsigned f = bit_cast<unsigned>(value);
    const unsigned sign = (f >> 16) & 0x8000u;
    const unsigned magnitude = f & 0x7fffffffu;
    // Normal results: rebias the exponent and round half to even.
    const unsigned odd = (magnitude >> 13) & 1u;
    const unsigned normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    // Subnormal results: adding 0.5 aligns the mantissa so that the hardware does the rounding.
    const unsigned subnormal =
        bit_cast<unsigned>(bit_cast<float>(magnitude) + 0.5f) - bit_cast<unsigned>(0.5f);
    const unsigned overflow = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const unsigned finite = magnitude < 0x38800000u ? subnormal : normal;
    const unsigned result = magnitude >= 0x477ff000u ? overflow : finite;
    return static_cast<unsigned short>(result | sign);
  }

  static FB_FN float to_float(unsigned short h) {
    const unsigned sign = (h & 0x8000u) << 16;
    const unsigned magnitude = h & 0x7fffu;
    // 2^112 scales a half's exponent into a float's; subnormals come out right because the
    // multiplication normalises them.
    const float scaled = bit_cast<float>(magnitude << 13) * bit_cast<float>(0x77800000u);
    const unsigned special = (magnitude << 13) | 0x7f800000u;
    const unsigned value = magnitude >= 0x7c00u ? special : bit_cast<unsigned>(scaled);
    return bit_cast<float>(value | sign);
  }
};

// The upper half of a float. Rounds half to even.
struct BFloat16 {
  unsigned short bits;

  BFloat16() = default;
  FB_FN explicit BFloat16(float value) : bits(from_float(value)) {}
  FB_FN explicit operator float() const {
    return bit_cast<float>(static_cast<unsigned>(bits) << 16);
  }

  static FB_FN unsigned short from_float(float value) {
    const unsigned f = bit_cast<unsigned>(value);
    const unsigned rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    return static_cast<unsigned short>(value != value ? 0x7fc0u : rounded);
  }
};

// A complex number whose arithmetic is the plain formula, so that loops over it vectorise.
template <class T>
struct Complex {
  T re;
  T im;

  Complex() = default;
  FB_FN constexpr Complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class U>
  FB_FN explicit Complex(const Complex<U>& z)
      : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}

  friend FB_FN Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend FB_FN Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend FB_FN Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend FB_FN Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // Scaled by the larger component of b, so that neither |b|^2 overflows nor underflows. Without
  // branches, because not every compiler makes vectors of them.
  friend FB_FN Complex operator/(Complex a, Complex b) {
    const T abs_re = b.re < T(0) ? -b.re : b.re;
    const T abs_im = b.im < T(0) ? -b.im : b.im;
    const bool flat = abs_re >= abs_im;
    const bool zero = (abs_re == T(0)) & (abs_im == T(0));
    const T large = flat ? b.re : b.im, small = flat ? b.im : b.re;
    const T ratio = small / large;
    const T scale = T(1) / (large + small * ratio);
    const T along = flat ? a.re : a.im, across = flat ? a.im : a.re;
    const T left = across - along * ratio, right = along * ratio - across;
    const T re = (along + across * ratio) * scale, im = (flat ? left : right) * scale;
    return {zero ? a.re / abs_re : re, zero ? a.im / abs_im : im};
  }
  friend FB_FN bool operator==(Complex a, Complex b) { return (a.re == b.re) & (a.im == b.im); }
  friend FB_FN bool operator!=(Complex a, Complex b) { return !(a == b); }
};

// Type facts that element functions need, without <type_traits>.
template <class T>
struct TypeOf {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class T>
struct TypeOf<Complex<T>> {
  using Real = T;
  static constexpr bool is_complex = true;
};
template <class T>
using RealOf = typename TypeOf<T>::Real;

template <class T>
inline constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<float> = true;
template <>
inline constexpr bool kIsFloat<double> = true;
template <class T>
inline constexpr bool kIsComplex = TypeOf<T>::is_complex;
template <class T>
inline constexpr bool kIsInteger = !kIsFloat<T> && !kIsComplex<T>;
template <class T>
inline constexpr bool kIsBool = false;
template <>
inline constexpr bool kIsBool<bool> = true;
template <class T>
inline constexpr bool kIsSigned = T(-1) < T(0);
template <class T>
inline constexpr bool kIsSigned<Complex<T>> = true;
template <>
inline constexpr bool kIsSigned<bool> = false;

// Whether a byte of a bool tensor is true: every byte but 0 is. Such memory is shared with uint8
// views, files and other libraries, so a byte may hold anything, and one that is neither 0 nor 1
// must not even be read as a C++ bool. Loads of bytes, unlike loads of bools, are also vectorised
// by GCC.
FB_FN bool is_true(const void* address) { return *static_cast<const unsigned char*>(address) != 0; }

// Reads one element of a tensor.
template <class T>
FB_FN T element_at(const T* address) {
  if constexpr (kIsBool<T>)
    return is_true(address);
  else
    return *address;
}

// Picks without branching, so that a loop over it becomes a blend. GCC makes branches of choices
// between bools and between structures.
template <class T>
FB_FN T select(bool condition, T yes, T no) {
  if constexpr (kIsBool<T>)
    return (condition & yes) | (!condition & no);
  else if constexpr (kIsComplex<T>)
    return {condition ? yes.re : no.re, condition ? yes.im : no.im};
  else
    return condition ? yes : no;
}

}  // namespace fb
