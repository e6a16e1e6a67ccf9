// Real functions for float and double: branch-free code that vectorises on the CPU, CUDA's own on
// the device.
#pragma once

#if defined(__CUDACC__)
#include "scalar/math/device.h"
#else
#include "scalar/math/basic.h"
#include "scalar/math/erf.h"
#include "scalar/math/exp.h"
#include "scalar/math/gamma.h"
#include "scalar/math/hyperbolic.h"
#include "scalar/math/log.h"
#include "scalar/math/pow.h"
#include "scalar/math/trig.h"
#endif
