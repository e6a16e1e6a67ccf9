// The values of constants that compilers must not see in element functions: scalar/math/opaque.h.
#include "scalar/math/opaque.h"

namespace fb::math {
namespace {

template <class T>
constexpr T of(float narrow, double wide) {
  return sizeof(T) == sizeof(float) ? T(narrow) : T(wide);
}

}  // namespace

template <class T>
const T Opaque<T>::kExpLow = of<T>(-104.5f, -746.0);
template <class T>
const T Opaque<T>::kExpHigh = of<T>(89.0f, 710.0);
template <class T>
const T Opaque<T>::kExp2Low = of<T>(-152.0f, -1078.0);
template <class T>
const T Opaque<T>::kExp2High = of<T>(152.0f, 1078.0);
template <class T>
const T Opaque<T>::kExpm1Low = of<T>(-18.0f, -38.0);
template <class T>
const T Opaque<T>::kSigmoidLow = of<T>(-104.5f, -746.0);
template <class T>
const T Opaque<T>::kSigmoidHigh = of<T>(30.0f, 60.0);
template <class T>
const T Opaque<T>::kSinhHigh = of<T>(89.7f, 710.5);
template <class T>
const T Opaque<T>::kTanhHigh = of<T>(20.0f, 40.0);
template <class T>
const T Opaque<T>::kErfLow = of<T>(0.9225f, 1.0);
template <class T>
const T Opaque<T>::kErfHigh = of<T>(4.0f, 6.0);
template <class T>
const T Opaque<T>::kErfcHigh = of<T>(10.5f, 27.5);
template <class T>
const T Opaque<T>::kNormalHigh = of<T>(6.5f, 40.0);
template <class T>
const T Opaque<T>::kOne = of<T>(1.0f, 1.0);
template <class T>
const T Opaque<T>::kZero = of<T>(0.0f, 0.0);
template <class T>
const T Opaque<T>::kSix = of<T>(6.0f, 6.0);
template <class T>
const T Opaque<T>::kQuarterPi = of<T>(0.785398163f, 0.78539816339744830962);
template <class T>
const T Opaque<T>::kPiRest = of<T>(-2.7827534e-08f, 3.8981718325193755e-17);

template struct Opaque<float>;
template struct Opaque<double>;

}  // namespace fb::math
