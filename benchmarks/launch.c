/* The time of a bare cuLaunchKernel in C, what the host time of an operator is compared with. */

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static const char *const kCode =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry nothing(.param .u64 value)\n"
    "{\n"
    "  ret;\n"
    "}\n";

typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);

static Launch launch;
static int (*synchronize)(void);
static void *function;
static char problem[200];

static int failed(const char *what, int code) {
  snprintf(problem, sizeof problem, "%s: error %d", what, code);
  return 1;
}

const char *launch_problem(void) { return problem; }

/* Open the driver and load the kernel into the primary context, which becomes current. */
int launch_open(const char *library) {
  void *const driver = dlopen(library, RTLD_NOW | RTLD_LOCAL), *context, *module;
  int code;
  if (!driver) return failed(library, 0);
  int (*const init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
  int (*const retain)(void **, int) =
      (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
  int (*const set)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
  int (*const load)(void **, const void *) =
      (int (*)(void **, const void *))dlsym(driver, "cuModuleLoadData");
  int (*const get)(void **, void *, const char *) =
      (int (*)(void **, void *, const char *))dlsym(driver, "cuModuleGetFunction");
  launch = (Launch)dlsym(driver, "cuLaunchKernel");
  synchronize = (int (*)(void))dlsym(driver, "cuCtxSynchronize");
  if (!init || !retain || !set || !load || !get || !launch || !synchronize)
    return failed("a function of the driver is missing", 0);
  if ((code = init(0))) return failed("cuInit", code);
  if ((code = retain(&context, 0))) return failed("cuDevicePrimaryCtxRetain", code);
  if ((code = set(context))) return failed("cuCtxSetCurrent", code);
  if ((code = load(&module, kCode))) return failed("cuModuleLoadData", code);
  if ((code = get(&function, module, "nothing"))) return failed("cuModuleGetFunction", code);
  return 0;
}

/* Seconds of one launch, as the mean of `calls`; below zero if one failed. */
double launch_seconds(int calls) {
  unsigned long long value = 0;
  void *parameters[] = {&value};
  struct timespec start, end;
  int code = synchronize();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < calls; ++i)
    code |= launch(function, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  code |= synchronize();
  if (code) return failed("cuLaunchKernel", code), -1;
  return ((double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9) /
         calls;
}
