// What LAPACK computes on the host: see Note [Kernels on the host].
#include "cuda/host.h"
#include "cuda/linalg.h"

namespace fb::cuda {

using kernel::LeastSquares;
using kernel::Matrices;
using kernel::SvdVectors;
using kernel::Table;
using kernel::TriangularSystem;

void lu_factor(const Matrices& a, int32_t* pivots, int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = trip.inout(a);
  int32_t* const rows = trip.out(pivots, a.batch * a.smaller());
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.lu_factor(matrices, rows, codes); });
}

void lu_factor_solve(const Matrices& a, int32_t* pivots, const Matrices& x, int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = trip.inout(a), sides = trip.inout(x);
  int32_t* const rows = trip.out(pivots, a.batch * a.smaller());
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.lu_factor_solve(matrices, rows, sides, codes); });
}

void lu_solve(const Matrices& lu, const int32_t* pivots, const Matrices& x, bool adjoint) {
  RoundTrip trip;
  const Matrices factors = trip.in(lu), sides = trip.inout(x);
  const int32_t* const rows = trip.in(pivots, lu.batch * lu.smaller());
  trip.run([&](const Table& host) { host.lu_solve(factors, rows, sides, adjoint); });
}

void invert(const Matrices& a, int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = trip.inout(a);
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.invert(matrices, codes); });
}

void cholesky_factor(const Matrices& a, bool upper, int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = trip.inout(a);
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.cholesky_factor(matrices, upper, codes); });
}

void cholesky_solve(const Matrices& factor, bool upper, const Matrices& x) {
  RoundTrip trip;
  const Matrices factors = trip.in(factor), sides = trip.inout(x);
  trip.run([&](const Table& host) { host.cholesky_solve(factors, upper, sides); });
}

void cholesky_invert(const Matrices& factor, bool upper, int32_t* info) {
  RoundTrip trip;
  const Matrices factors = trip.inout(factor);
  int32_t* const codes = trip.out(info, factor.batch);
  trip.run([&](const Table& host) { host.cholesky_invert(factors, upper, codes); });
}

void solve_triangular(const Matrices& a, const Matrices& x, const TriangularSystem& system) {
  RoundTrip trip;
  const Matrices matrices = trip.in(a), sides = trip.inout(x);
  trip.run([&](const Table& host) { host.solve_triangular(matrices, sides, system); });
}

void qr_factor(const Matrices& a, void* tau) {
  RoundTrip trip;
  const Matrices matrices = trip.inout(a);
  void* const factors = trip.out(a.dtype, tau, a.batch * a.smaller());
  trip.run([&](const Table& host) { host.qr_factor(matrices, factors); });
}

void qr_columns(const Matrices& packed, const void* tau, int64_t k, const Matrices& q) {
  RoundTrip trip;
  const Matrices reflectors = trip.in(packed), columns = trip.out(q);
  const void* const factors = trip.in(q.dtype, tau, q.batch * k);
  trip.run([&](const Table& host) { host.qr_columns(reflectors, factors, k, columns); });
}

void qr_multiply(const Matrices& packed, const void* tau, int64_t k, const Matrices& c, bool left,
                 bool adjoint) {
  RoundTrip trip;
  const Matrices reflectors = trip.in(packed), product = trip.inout(c);
  const void* const factors = trip.in(c.dtype, tau, c.batch * k);
  trip.run(
      [&](const Table& host) { host.qr_multiply(reflectors, factors, k, product, left, adjoint); });
}

void svd(const Matrices& a, SvdVectors vectors, void* s, const Matrices& u, const Matrices& vh,
         int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = trip.in(a), left = trip.out(u), right = trip.out(vh);
  void* const values = trip.out(real_type(a.dtype), s, a.batch * a.smaller());
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.svd(matrices, vectors, values, left, right, codes); });
}

void eigen_hermitian(const Matrices& a, bool upper, bool with_vectors, void* values,
                     int32_t* info) {
  RoundTrip trip;
  const Matrices matrices = with_vectors ? trip.inout(a) : trip.in(a);
  void* const numbers = trip.out(real_type(a.dtype), values, a.batch * a.columns);
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) {
    host.eigen_hermitian(matrices, upper, with_vectors, numbers, codes);
  });
}

void eigen_general(const Matrices& a, void* values, void* vectors, int32_t* info) {
  RoundTrip trip;
  const DType type = complex_type(a.dtype);
  const Matrices matrices = trip.in(a);
  void* const numbers = trip.out(type, values, a.batch * a.columns);
  void* const columns = vectors ? trip.out(type, vectors, a.batch * a.rows * a.columns) : nullptr;
  int32_t* const codes = trip.out(info, a.batch);
  trip.run([&](const Table& host) { host.eigen_general(matrices, numbers, columns, codes); });
}

void least_squares(const LeastSquares& plan) {
  RoundTrip trip;
  const Matrices& a = plan.a;
  LeastSquares moved = plan;
  moved.a = trip.in(a);
  moved.x = trip.inout(plan.x);
  if (plan.rank) moved.rank = trip.out(plan.rank, a.batch);
  if (plan.values) moved.values = trip.out(real_type(a.dtype), plan.values, a.batch * a.smaller());
  moved.info = trip.out(plan.info, a.batch);
  trip.run([&](const Table& host) { host.least_squares(moved); });
}

}  // namespace fb::cuda
