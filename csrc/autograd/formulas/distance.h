// Derivatives of distances: those of norms.
#pragma once

#include "autograd/formulas/reduce.h"
