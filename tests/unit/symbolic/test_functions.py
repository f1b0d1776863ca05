"""NumPy's functions of symbolic arrays give what they give on numbers: one line per way of calling one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.symbolic.running import assert_same

RNG = np.random.default_rng(7)
_ROOT = RNG.normal(size=(3, 3))
ARRAYS: dict[str, Any] = {
    "A": RNG.normal(size=(3, 3)),
    "B": RNG.normal(size=(3, 4)),
    "S": _ROOT @ _ROOT.T + np.eye(3),
    "T": RNG.normal(size=(2, 3, 3)),
    "v": np.array([0.7, -1.3, 0.4]),
    "w": np.array([-0.6, 2.5, 0.9]),
    "u": RNG.normal(size=4),
    "p": np.array([0.3, 1.7, 42.0]),
    "n": np.array([-0.95, -0.3, 0.0, 1e-9, 0.8]),
    "z": np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.7]),
    "y": np.array([3.0, -2.0, 1.0, -1.0, 2.0, -3.0, 0.5]),
    "x": np.array(0.6),
    "k": np.array([3, -4, 5]),
    "m": np.array([True, False, True]),
    "o": np.array([True, True, False]),
    "f": np.array([0.5, -1.5, 2.0], np.float32),
}

ELEMENTWISE = """
v + w | v - w | v * w | v / w | -v | +v | abs(v) | v ** 2 | v ** 3 | v ** -1 | v ** -2 | p ** 0.5 | p ** 2.5 | p ** -0.5
p ** 1.3 | p ** v | 2.0 ** v | v ** np.array([2.0, 3.0, -3.0]) | v ** k | v ** 0 | 2 ** k[0:1] | k ** 2 | z ** 40
v + 1 | 1 - v | 2 * v | 1 / v | v + A | A + v[:, None] | x * v | x + 1.5 | v + [1.0, 2, 3] | v * k | v + m
np.float64(2.0) * v | np.float32(2.0) * v | v + np.arange(3) | np.ones((2, 1)) * v | np.int64(3) - v | z % 1.1
z % -1.1 | z // 1.1 | z // -0.7 | z % y | z // y | np.mod(z, 2) | np.fmod(z, 1.1) | np.fmod(z, y) | 5.5 % y
np.divmod(z, 1.1)[0] | divmod(z, 1.1)[1] | np.remainder(z, 3) | (8 * z + np.pi) % (2 * np.pi) - np.pi | k % 3 | k // 3
k // 2 * 2 + k % 2 | k % np.array([2, -3, 0])[:2].repeat([1, 2]) | np.float_power(p, 2) | np.modf(z)[0] | np.modf(z)[1]
np.sqrt(p) | np.cbrt(z) | np.exp(v) | np.exp2(v) | np.expm1(n) | np.log(p) | np.log2(p) | np.log10(p) | np.log1p(n)
np.sin(v) | np.cos(v) | np.tan(v) | np.arcsin(n) | np.arccos(n) | np.arctan(y) | np.arctan2(z, y) | np.arctan2(v, -1.0)
np.sinh(n) | np.sinh(8 * z) | np.cosh(z) | np.tanh(z) | np.arcsinh(n) | np.arcsinh(100 * z) | np.arccosh(1 + p)
np.arctanh(n) | np.hypot(v, w) | np.square(v) | np.reciprocal(v) | np.absolute(v) | np.fabs(v) | np.sign(z) | np.sign(k)
np.floor(z) | np.ceil(z) | np.trunc(z) | np.rint(z) | np.round(z) | np.round(v, 1) | round(v[0], 1) | np.around(v, 2)
z.round() | np.round(123.0 * v, -1) | np.floor(k) | np.rint(-z)
np.rint(np.array(0.49999999999999994) + 0 * z) | np.maximum(v, w) | np.minimum(v, 0.1) | np.fmax(v, w) | np.fmin(v, w)
np.maximum(x, v) | np.clip(v, -0.5, 0.5) | np.clip(v, None, 0.5) | np.clip(v, -0.1, None) | np.clip(v, w - 1, w + 1)
v.clip(0.0) | v.clip(max=0.2) | np.clip(k, 0, 4) | np.copysign(v, w) | np.signbit(v) | np.heaviside(z, 0.5)
np.deg2rad(v) | np.rad2deg(v) | np.radians(v) | np.degrees(v) | np.logaddexp(v, w) | np.logaddexp2(v, w) | np.sinc(z)
np.nan_to_num(v) | np.isnan(v) | np.isfinite(v) | np.isinf(v) | np.positive(v) | v < w | v <= w | v > w | v >= w
v == w | v != w | z == 0 | z != 0.0 | 0.5 <= v | k > 3 | (v > 0) == m | np.less(v, 0) | np.greater_equal(v, w) | m & o
m | (v > 0) ^ m | ~m | np.logical_and(v, m) | np.logical_or(z > 1, z < 0) | np.logical_xor(m, o) | np.logical_not(v)
np.logical_not(m) | m + o | m * o | m + 1 | m * 0.5 | (v > 0) * v | m.astype(float) | m|o | (v[0] > 0)|m
np.bitwise_and(m, o) | np.bitwise_or(m, o) | np.bitwise_xor(m, o) | np.invert(m) | abs(m) | -k | abs(k) | k + k | k - 1
k * 2 | k / 2 | k + 0.5 | np.sin(k) | np.sqrt(abs(k)) | f + f | f * 2.0 | f + 1 | np.sin(f) | f + v | f / 3 | f * k
f > 0 | np.where(v > 0, v, w) | np.where(v > 0, 1.0, -1.0) | np.where(v > 0, 1, 0) | np.where(m, v, 0.0)
np.where(v, v, 1) | np.where(x > 0, v, w) | np.where([True, False, True], v, w) | np.where(v > w, f, 0.5)
np.where(A > 0, A, v) | np.select([v > 0.5, v > 0], [v, 2 * v]) | np.select([v > 0.5, v > 0], [v, 2 * v], -1.0)
np.select([m, o], [k, 2], 7) | np.piecewise(v, [v < 0, v >= 0.5], [lambda t: -t, lambda t: t * t, 3.0])
np.interp(z, [-1.0, 0.0, 2.0], [3.0, 1.0, 4.0]) | np.interp(z, [-1.0, 0.5, 2.0], [3.0, 1.0, 4.0], left=-9.0, right=9.0)
np.interp(x, [0.0, 1.0, 2.0], v) | np.isclose(v, w) | np.isclose(v, v + 1e-9) | np.allclose(v, v) | np.array_equal(v, w)
np.array_equal(v, u) | np.polyval(v, 0.5) | np.polyval([1.0, 2.0, 3.0], v) | np.add(v, w) | np.subtract.outer(v, u)
np.multiply.outer(v, w) | np.add.reduce(A) | np.add(f, f, dtype=np.float64) | np.maximum.reduce(A, axis=1)
np.add.accumulate(v) | np.logical_and.reduce(m) | np.conjugate(v) | abs(-2.0 * v) | sum(v) | sum([v, w])
np.unwrap is None or v | v.conj() | v.real | -(-v) | 0.0 * v + 1.0 | v - v
"""
SHAPES = """
v.shape + (0 * v).shape is None or v | A.T | A.transpose() | T.transpose(2, 0, 1) | T.transpose((1, 0, 2))
np.transpose(T) | A.reshape(9) | A.reshape(-1) | A.reshape(1, 9) | A.reshape((9, 1)) | np.reshape(A, (9,))
T.reshape(2, -1) | A.ravel() | T.mT | A.flatten() | A.ravel("F") | np.ravel(A) | A.copy() | np.copy(A) | A.flat[4]
list(A.flat)[3] | A.item(2) | A.item(1, 2) | np.moveaxis(T, 0, -1) | np.swapaxes(T, 0, 2) | T.swapaxes(0, 1)
np.rollaxis(T, 2) | np.expand_dims(v, 0) | np.expand_dims(v, (0, 2)) | np.squeeze(v[None]) | v[:, None].squeeze()
v[None].squeeze(0) | np.atleast_1d(x) | np.atleast_2d(v) | np.atleast_3d(v) | np.broadcast_to(v, (2, 3))
np.broadcast_arrays(v, A)[0] | np.broadcast_arrays(x, v)[0] | np.concatenate([v, w])
np.concatenate((A, v[None]), axis=0) | np.concatenate([A, B], axis=1) | np.concatenate([v, [1, 2]])
np.concatenate([A, A], axis=None) | np.concatenate([f, v]) | np.concatenate([f, f]) | np.concatenate([k, m])
np.concatenate(A) | np.stack([v, w]) | np.stack([v, w], axis=1) | np.stack([x, 0.0, v[0]])
np.stack([v, np.ones(3)], -1) | np.stack(A) | np.vstack([v, A]) | np.hstack([v, w]) | np.hstack([A, B])
np.dstack([A, A]) | np.column_stack([v, w, A]) | np.hstack([x, v, 1.0])
np.block([[A, B], [np.zeros((1, 3)), u[None]]]) | np.block([v, w]) | np.block([[A, v[:, None]], [np.zeros(3), 1.0]])
np.split(v, 3)[1] | np.split(u, [1, 3])[2] | np.array_split(u, 3)[0] | np.hsplit(B, 2)[1] | np.vsplit(A, 3)[0]
np.dsplit(T, 3)[2] | np.tile(v, 2) | np.tile(v, (2, 1)) | np.repeat(v, 2) | np.repeat(A, [1, 0, 2], axis=1)
v.repeat(2) | np.roll(v, 1) | np.roll(A, 1, axis=0) | np.flip(v) | np.flip(A, 1) | np.fliplr(A) | np.flipud(A)
np.rot90(A) | np.diag(v) | np.diag(A) | np.diag(v, 1) | np.diagflat(v) | np.diagonal(A) | A.diagonal(1) | np.trace(A)
A.trace() | np.trace(T, axis1=1, axis2=2) | np.linalg.trace(T) | np.linalg.diagonal(T) | np.tril(A) | np.triu(A, 1)
np.tril(A, -1) | np.take(v, [2, 0]) | v.take([1]) | np.take(A, 1, axis=1)
np.take_along_axis(A, np.array([[0], [2], [1]]), 1) | np.delete(v, 1) | np.delete(A, 0, axis=1) | np.insert(v, 1, 5.0)
np.insert(v, 1, w[0]) | np.append(v, 1.0) | np.append(v, w) | np.append(A, v[None], axis=0) | np.pad(v, 1)
np.pad(v, (1, 2), mode="edge") | np.meshgrid(v, u)[0] | np.meshgrid(v, w, indexing="ij")[1] | np.zeros_like(A)
np.ones_like(v) | np.full_like(v, 2.5) | np.full_like(v, w[0]) | np.zeros_like(k) | np.zeros_like(v, dtype=int)
np.empty_like(v) * 0 | np.zeros_like(v, shape=(2, 2)) | np.full_like(k, 2.7) | np.zeros(3, like=v) | np.eye(2, like=v)
np.ones((2, 2), like=v) | np.full((2,), x, like=v) | np.arange(3, like=v) | np.array([v, w], like=v)
np.asarray(v, like=v) | np.array([[x, 1.0], [0.0, x]], like=x) | np.array(v, dtype=np.float32, like=v)
np.identity(2, like=v) | np.array(v, ndmin=2, like=v) | v[0] | v[-1] | v[1:] | v[::-1] | v[:2] | v[...] | v[None]
v[:, None] | v[..., None] | A[0] | A[0, 1] | A[:, 1] | A[1:, :2] | A[..., 0] | A[[0, 2]] | A[[0, 2], [1, 1]]
A[:, [2, 0]] | A[np.array([[0, 1], [2, 0]])] | A[np.eye(3, dtype=bool)] | v[[True, False, True]]
A[[True, False, True], 1] | T[0, :, 1] | T[:, 0][:, None] | T[..., ::2] | A[np.triu_indices(3)]
A[np.triu_indices_from(A, 1)] | B[np.tril_indices_from(B)] | A[np.diag_indices_from(A)] | x[()] | x[None] | x[..., None]
A[()] | A[1][2] | A[np.int64(1)] | A[-1, ::-2] | A[np.ix_([0, 2], [1, 2])] | T[:, [0, 1], [1, 2]]
v[np.argsort([3, 1, 2])] | np.array([a for a in v]) | np.array([x, 2.0 * x, 0.0])
np.array([[x, 1], [np.sin(x), 2]]) @ v[:2] | np.array([x, x]) + v[:2] | np.array([np.cos(x), -np.sin(x), 0.0]) @ A
2.0 * np.array([x, v[0]]) | np.asarray([x, v[1]]) | np.sin(np.array([x, v[0]])) | np.sqrt(np.array([x, x + 1]))
np.array([v[0], v[1]]).sum() | np.array([[x, 0.0], [1.0, x]]).T | np.stack([np.array([x, 1.0]), v[:2]])
np.where(v[:2] > 0, np.array([x, 1.0]), 0.0) | np.concatenate([np.array([x, 1.0]), v])
np.dot(np.array([x, 1.0]), np.array([x, 2.0])) | np.cross(np.array([x, 1.0, 0.0]), v)
np.arctan2(np.array([x, 2 * x]), 0.5) | v.astype(float) | v.astype(int) | z.astype(int) | v.astype(bool)
k.astype(float) | m.astype(int) | v.astype(np.float32) | np.astype(v, np.int64) | np.array(v.tolist())
np.shape(A) == (3, 3) and v | np.ndim(A) + v | np.size(A) * v | A.size + v | np.size(B, 1) * v | len(A) * v
np.result_type(f, f) == np.float32 and v | np.iscomplexobj(v) or v | v.nbytes * v | x.ndim + v | np.unstack(A)[1]
np.permute_dims(T, (1, 2, 0)) | np.matrix_transpose(T) | np.linalg.matrix_transpose(A) | np.concat([v, w])
[row @ v for row in A][2] | [*v][1] | (lambda a, b, c: a + b * c)(*v) | np.real(v) | np.array([k[0] * 1.0, x])
"""
REDUCTIONS = """
v.sum() | A.sum() | A.sum(0) | A.sum(axis=1) | A.sum(axis=-1, keepdims=True) | T.sum(axis=(0, 2)) | np.sum(A)
np.sum(A, 0) | np.sum([v[0], 1.0, x]) | k.sum() | m.sum() | f.sum() | np.sum(v, initial=2.0) | v[:0].sum()
A[:, :0].sum(1) | np.sum(k, dtype=float) | A.prod() | A.prod(0) | np.prod(v) | v[:0].prod() | A.mean() | A.mean(0)
np.mean(T, axis=(1, 2)) | k.mean() | f.mean() | m.mean() | A.mean(1, keepdims=True) | A.var() | A.var(0)
np.var(A, axis=1, ddof=1) | A.std() | np.std(A, axis=0) | np.std(A, 1, ddof=1) | np.average(v)
np.average(v, weights=p) | np.average(A, axis=1, weights=p) | A.min() | A.max() | A.min(0) | A.max(axis=1)
np.max(A, axis=1, keepdims=True) | np.min(T, axis=(0, 2)) | np.amax(v) | np.amin(v) | np.max(v, initial=3.0) | k.max()
np.ptp(A) | np.apply_along_axis(np.sum, 1, A) | np.apply_along_axis(lambda r: r[:2] * r[1], 0, T)
np.apply_along_axis(lambda r: np.outer(r, r), 1, T) | np.ptp(A, axis=0) | m.any() | m.all() | np.any(A > 0, axis=0)
np.all(A > -1, axis=1) | np.any(v) | np.all(v) | (v > 5).any() | np.count_nonzero(v) | np.count_nonzero(A > 0, axis=1)
v.cumsum() | np.cumsum(A) | np.cumsum(A, axis=1) | np.cumprod(v) | np.cumprod(A, axis=0) | k.cumsum() | np.diff(v)
np.diff(A) | np.diff(A, axis=0) | np.diff(u, n=2) | np.diff(v, prepend=0.0) | np.diff(A, axis=0, append=v[None])
np.diff(k) | np.unwrap(8 * z) | np.unwrap(8 * A, axis=0) | np.unwrap(z * y, period=1.5) | np.trapezoid(A)
np.unwrap(np.pi * np.sign(z)) | np.unwrap(-np.pi * np.sign(z))
np.trapezoid(A, axis=0, dx=0.5) | np.trapezoid(u, u * u) | np.trapezoid(A, v) | np.linspace(x, 2.0, 5)
np.linspace(v, w, 4, endpoint=False) | np.linspace(0.0, x, 3, axis=-1) | np.linspace(x, 1.0, 1) | np.cumulative_sum(v)
np.cumulative_sum(A, axis=1) | np.ediff1d(u) | v.argmin() | v.argmax() | np.argmax(A) | np.argmin(A, axis=0)
np.argmax(A, axis=1) | np.argmax(A, axis=1, keepdims=True) | np.argmax([1, 5, 2] + 0 * v) | np.sort(v) | np.sort(A)
np.sort(A, axis=0) | np.sort(A, axis=None) | np.sort(z[::-1]) | np.sort(np.concatenate([v, w, u, p, z])) | np.sort(v)[1]
min([1.0, 2.0]) * v
"""
LINEAR = """
A @ v | v @ A | A @ A | v @ w | A @ B | T @ v | T @ A | v @ T | T @ T | A @ np.eye(3) | np.eye(3) @ v
np.ones((2, 3)) @ A | A.T @ v | A @ [1.0, 2.0, 3.0] | f @ f | k @ k | k @ v | A[:, :0] @ B[:0] | v[:0] @ w[:0]
np.matmul(A, v) | np.linalg.matmul(A, B) | np.dot(v, w) | np.dot(A, v) | np.dot(A, B) | np.dot(x, v) | np.dot(T, v)
np.dot(T, A) | v.dot(w) | A.dot(A).dot(v) | np.vdot(A, A) | np.inner(v, w) | np.vecdot(A, v) | np.matvec(T, v)
np.vecmat(v, T) | np.linalg.vecdot(A, A, axis=0) | np.inner(A, v) | np.inner(A, T) | np.outer(v, u) | np.outer(A, v)
np.linalg.outer(v, w) | np.kron(A, v) | np.kron(A, np.eye(2)) | np.tensordot(A, B, 1) | np.tensordot(A, A)
np.tensordot(T, A, axes=([2], [0])) | np.tensordot(v, w, 0) | np.tensordot(T, B, axes=(1, 0))
np.linalg.tensordot(A, B, axes=1) | np.cross(v, w) | np.cross(A, v) | np.cross(v, A) | np.cross(v, [0.0, 0.0, 1.0])
np.cross(np.array([1.0, 2.0, 3.0]), v) | np.cross(A, A[::-1], axis=0) | np.cross(A, v, axisa=0)
np.cross(A, v, axisc=0) | np.linalg.cross(v, w) | np.cross(T, v) | np.convolve(v, u) | np.convolve(v, u, "same")
np.convolve(v, u, "valid") | np.linalg.multi_dot([A, A, v]) | np.linalg.multi_dot([v, A, B])
np.linalg.matrix_power(A, 3) | np.linalg.matrix_power(A, 0) | np.linalg.matrix_power(A, -2)
np.linalg.matrix_power(T, 2) | np.linalg.matrix_power(A, 1) | np.linalg.norm(v) | np.linalg.norm(A)
np.linalg.norm(A, axis=1) | np.linalg.norm(A, axis=0, keepdims=True) | np.linalg.norm(v, 1) | np.linalg.norm(v, np.inf)
np.linalg.norm(v, -np.inf) | np.linalg.norm(v, 0) | np.linalg.norm(v, 3) | np.linalg.norm(A, "fro")
np.linalg.norm(A, 1) | np.linalg.norm(A, np.inf) | np.linalg.norm(A, -1) | np.linalg.norm(T, axis=(1, 2))
np.linalg.norm(0 * v) | np.linalg.norm(T, np.inf, axis=(0, 2), keepdims=True) | np.linalg.norm(T) | np.linalg.norm(k)
np.linalg.norm(f) | np.linalg.norm(x) | np.linalg.norm(v, keepdims=True) | np.linalg.norm([v[0], x])
np.linalg.vector_norm(A) | np.linalg.vector_norm(A, axis=1, ord=1) | np.linalg.matrix_norm(T)
np.linalg.norm(A, 2, axis=1) | np.linalg.solve(A, v) | np.linalg.solve(A, B) | np.linalg.solve(T, A)
np.linalg.solve(A, T) | np.linalg.solve(T, v) | np.linalg.solve(np.array([[0.0, 2, 1], [1, 0, 0], [3, 0, 1]]), v)
np.linalg.solve(A, np.ones(3)) | np.linalg.solve(np.diag(v), w)
np.linalg.solve(A * [[0.0, 1, 1], [1, 0, 1], [1, 1, 0]], v)
np.linalg.solve(np.block([[S, A[:, :2]], [A[:, :2].T, np.zeros((2, 2))]]), np.concatenate([v, w[:2]]))
np.linalg.inv(A) | np.linalg.inv(T) | np.linalg.inv(S) | np.linalg.inv(np.tril(A))
np.linalg.inv(np.array([[x, 1.0], [2.0, 3.0]], like=x)) | np.linalg.det(A) | np.linalg.det(T) | np.linalg.det(A[:2, :2])
np.linalg.det(A[:1, :1]) | np.linalg.det(S) | np.linalg.det(np.eye(4) + np.outer(u, u))
np.linalg.det(np.pad(A, ((1, 0), (0, 1)))) | np.linalg.slogdet(A)[0] | np.linalg.slogdet(A)[1]
np.linalg.slogdet(T).logabsdet | np.linalg.cholesky(S) | np.linalg.cholesky(S, upper=True)
np.linalg.cholesky(np.stack([S, 2 * S])) | np.linalg.cholesky(np.eye(3) + 0 * S) | np.linalg.qr(A)[0]
np.linalg.qr(A).R | np.linalg.qr(B).Q | np.linalg.qr(B.T)[0] | np.linalg.qr(B.T)[1] | np.linalg.qr(T).Q
np.linalg.qr(B.T, mode="complete")[0] | np.linalg.qr(B.T, mode="complete")[1] | np.linalg.qr(B.T, mode="r")
np.linalg.qr(np.tril(A)).R | np.linalg.qr(np.triu(A)).Q | np.linalg.inv(k * np.eye(3))
np.linalg.solve(f * np.eye(3), f)
"""
EINSUM = """
np.einsum("ij,j->i", A, v) | np.einsum("ij,j", A, v) | np.einsum("ii", A) | np.einsum("ii->i", A)
np.einsum("ij->ji", A) | np.einsum("ij->", A) | np.einsum("ij->j", A) | np.einsum("i,i", v, w) | np.einsum("i,j", v, u)
np.einsum("i,j->ji", v, u) | np.einsum("nij,nj->ni", T, A[:2]) | np.einsum("nij,njk->nik", T, T)
np.einsum("ij,jk,k->i", A, A, v) | np.einsum("i,ij,j->", v, A, w) | np.einsum("ij,kl,jk->il", A, A, A)
np.einsum("...i,...i->...", A, v) | np.einsum("...ij,j->...i", T, v) | np.einsum("i...->...", T) | np.einsum("...", A)
np.einsum("ij,ij->ij", A, A) | np.einsum("i,i->i", v, w) | np.einsum(" i j , j k -> i k ", A, B)
np.einsum("ijk,ijk->k", T, T) | np.einsum("iij->j", T[:, :2]) | np.einsum("i->", v) | np.einsum(",i->i", x, v)
np.einsum("ba", A) | np.einsum(A, [0, 1], v, [1], [0]) | np.einsum(A, [0, 0])
np.einsum(T, [Ellipsis, 0, 1], v, [1], [Ellipsis, 0]) | np.einsum("i,j->", v, u)
np.einsum("ij,j->i", np.arange(9.0).reshape(3, 3), v) | np.einsum("ij,jk->ik", A, A, optimize=True)
np.einsum("ij,i->ij", A[:, :1], v) | np.einsum("i,i->i", v[:1], w) | np.einsum("i,i->", v[:1], w)
np.einsum("ij,j->i", k[:, None] * k, k) | np.einsum("a...b,b->a...", T, v)
"""


def lines(table: str) -> list[str]:
    """The expressions of a table, but for functions that this NumPy does not have yet."""
    texts = [text.strip() for text in table.replace("\n", " | ").split(" | ") if text.strip()]
    return [text for text in texts if all(hasattr(np, name) for name in re.findall(r"np\.(\w+)", text))]


def function_of(text: str) -> tuple[Callable[..., Any], list[Any]]:
    """An expression as a function of those arrays that it names, and the arrays."""
    names = [name for name in compile(text, text, "eval").co_names if name in ARRAYS]
    names += [n for n in ARRAYS if n not in names and f" {n} " in f" {text} ".replace("(", " ").replace(")", " ")]
    return eval(f"lambda {', '.join(names)}: {text}", {"np": np}), [ARRAYS[n] for n in names]


@pytest.mark.parametrize("text", lines(ELEMENTWISE))
def test_elementwise(text: str) -> None:
    function, arrays = function_of(text)
    with np.errstate(all="ignore"):
        assert_same(function, *arrays)


@pytest.mark.parametrize("text", lines(SHAPES))
def test_shapes(text: str) -> None:
    function, arrays = function_of(text)
    assert_same(function, *arrays)


@pytest.mark.parametrize("text", lines(REDUCTIONS))
def test_reductions(text: str) -> None:
    function, arrays = function_of(text)
    assert_same(function, *arrays)


@pytest.mark.parametrize("text", lines(LINEAR))
def test_linear_algebra(text: str) -> None:
    function, arrays = function_of(text)
    assert_same(function, *arrays)


@pytest.mark.parametrize("text", lines(EINSUM))
def test_einsum(text: str) -> None:
    function, arrays = function_of(text)
    assert_same(function, *arrays)
