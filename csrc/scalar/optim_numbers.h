// The numbers of optimisers' steps, as operators give them to kernels. No other headers: NVRTC
// reads this file too.
#pragma once

namespace fb::kernel {

// The numbers of a step for one parameter, from the options of its group and the step count.
// `maximize` negates gradients, `weight_decay` adds a multiple of the parameter to them.

struct SgdNumbers {  // state: momentum_buffer
  bool maximize, nesterov;
  bool first;  // the buffer begins as the gradient
  double weight_decay, momentum, dampened, lr;
};
struct AdamNumbers {  // state: exp_avg, exp_avg_sq, max_exp_avg_sq
  bool maximize;
  double weight_decay, shrink;  // shrink: what decoupled weight decay leaves of the parameter
  double beta1, beta2, eps, step_size, correction;
};
struct AdamaxNumbers {  // state: exp_avg, exp_inf
  bool maximize;
  double weight_decay, beta1, beta2, eps, step_size;
};
struct NAdamNumbers {  // state: exp_avg, exp_avg_sq
  bool maximize;
  double weight_decay, shrink;
  double beta1, beta2, eps, correction, grad_rate, average_rate;
};
struct RAdamNumbers {  // state: exp_avg, exp_avg_sq
  bool maximize, rectified;
  double weight_decay, shrink;
  double beta1, beta2, eps, lr, correction1, correction2, rectification;
};
struct RmspropNumbers {  // state: square_avg, grad_avg, momentum_buffer
  bool maximize;
  double weight_decay, alpha, eps, momentum, lr;
};
struct AdagradNumbers {  // state: sum
  bool maximize;
  double weight_decay, eps, lr;
};
struct AdadeltaNumbers {  // state: square_avg, acc_delta
  bool maximize;
  double weight_decay, rho, eps, lr;
};
struct RpropNumbers {  // state: prev, step_size
  bool maximize;
  double shrink, grow, least, most;
};
struct AsgdNumbers {  // state: ax
  bool maximize;
  double weight_decay, shrink, eta, mu;
};
struct AverageNumbers {
  double weight;  // of what is added
};

// Adafactor.
struct AdafactorNumbers {
  double weight;      // of this gradient in the running means
  double relative;    // the length of the step, relative to that of the parameter
  double eps1, eps2;  // the least root of a second moment, the least size of a parameter
  double d;           // the greatest root mean square of an update
  double shrink;      // what weight decay leaves of the parameter
  bool maximize;
};

// Of rows that a sparse gradient has values for.
struct AdamRowNumbers {
  double beta1, beta2, step_size, eps;
  bool maximize;
};
struct AdagradRowNumbers {
  double rate, eps;
  bool maximize;
};

// Of a GradScaler.
struct ScaleNumbers {
  double growth, backoff;  // factors
  long long interval;      // good steps before the scale grows
};

}  // namespace fb::kernel
