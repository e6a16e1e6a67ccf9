// Derivatives of what picks elements out: those of maxima.
#pragma once

#include "autograd/formulas/reduce.h"
