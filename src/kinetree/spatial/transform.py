"""Plücker transforms (RBDA sections 2.8 and A.2)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import MissingPackageError
from kinetree.expr import Scalar, Symbol
from kinetree.records import record
from kinetree.spatial.coriolis import CoriolisInertia
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.pose_matrices import pose_matrix
from kinetree.spatial.rotation_log import quaternion_from_matrix
from kinetree.spatial.rotations import quaternion_normalize
from kinetree.spatial.turn import Turn
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["Transform", "scipy_rotation"]


@record(frozen=True, slots=True)
class Transform:
    """The transform from coordinates of A to those of B: B's axes are the rows of E, its origin is r (both in A).

    `X @ m` takes a motion from A to B, `X.back(...)` a force or an inertia from B to A: the method's name replaces the
    star of the dual transform, so it cannot be forgotten.
    """

    E: Mat3
    r: Vec3
    turns: tuple[Turn, ...] = ()
    """Turns about coordinate axes that the rotation ends with, the last first: they rotate inertias more cheaply."""
    before: Mat3 | None = None
    """E without them; None without any."""

    @staticmethod
    def turning(turn: Turn) -> Transform:
        """A turn without a translation."""
        return Transform(turn.R.T, Vec3.zero(), (turn,), Mat3.identity())

    def factored(self) -> Transform:
        """The same transform, which records its factors if its rotation is a constant turn after a renaming of axes."""
        if _only_renames_axes(self.E) or (factors := _turn_and_renaming(self.E)) is None:
            return self
        turn, renaming = factors
        return Transform(self.E, self.r, (turn,), renaming)

    def plain(self) -> Transform:
        """The same transform without its factors."""
        return self if self.before is None else Transform(self.E, self.r)

    @staticmethod
    def identity() -> Transform:
        return Transform(Mat3.identity(), Vec3.zero())

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...
    @overload
    def __matmul__(self, other: Motion) -> Motion: ...
    def __matmul__(self, other: Transform | Motion) -> Transform | Motion:
        if isinstance(other, Motion):
            w = other.angular
            return Motion(self.E @ w, self.E @ (other.linear - self.r.cross(w)))
        if isinstance(other, Transform):
            E, r = self.E.times(other.E), other.r + other.E.T @ self.r
            if _is_unturned(self.before or self.E):
                return Transform(E, r, _joined(self.turns, other.turns), other.before or other.E)
            return Transform(E, r)
        return NotImplemented

    @overload
    def back(self, other: Force) -> Force: ...
    @overload
    def back(self, other: Motion) -> Motion: ...
    @overload
    def back(self, other: Inertia) -> Inertia: ...
    @overload
    def back(self, other: ArticulatedInertia) -> ArticulatedInertia: ...
    @overload
    def back(self, other: CoriolisInertia) -> CoriolisInertia: ...
    def back(
        self, other: Force | Motion | Inertia | ArticulatedInertia | CoriolisInertia
    ) -> Force | Motion | Inertia | ArticulatedInertia | CoriolisInertia:
        """The same quantity in A's coordinates, given in B's."""
        E_T, r = self.E.T, self.r
        if isinstance(other, Force):
            f = E_T @ other.linear
            return Force(E_T @ other.angular + r.cross(f), f)
        if isinstance(other, ArticulatedInertia):
            if self.before is None or not _only_renames_axes(self.before):
                return _back_articulated(E_T, r, other)
            for turn in self.turns:
                other = turn.back_articulated(other)
            return _back_articulated(self.before.T, r, other)
        if isinstance(other, Inertia):
            if self.before is None or not _only_renames_axes(self.before):
                return _back_rigid(E_T, r, other)
            for turn in self.turns:
                other = turn.back_rigid(other)
            return _back_rigid(self.before.T, r, other)
        if isinstance(other, CoriolisInertia):
            if self.before is None or not _only_renames_axes(self.before):
                return _back_coriolis(E_T, r, other)
            for turn in self.turns:
                other = turn.back_coriolis(other)
            return _back_coriolis(self.before.T, r, other)
        if isinstance(other, Motion):
            w = E_T @ other.angular
            return Motion(w, E_T @ other.linear + r.cross(w))
        raise TypeError(f"a transform takes back forces, motions and inertias, not {type(other).__name__}")

    __array_ufunc__: ClassVar[None] = None
    """NumPy's operators leave `X @ array` alone, where it is not clear which of two orders is meant."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """`numpy.asarray(X)` is `X.matrix`."""
        if copy is False:
            raise ValueError("a Transform is not an array yet, so it cannot become one without a copy")
        return self.matrix.astype(dtype or np.float64, copy=False)

    @staticmethod
    def from_matrix(pose: ArrayLike) -> Transform:
        """The transform of a pose, a homogeneous matrix (4, 4) as `kt.frame_placement` returns.

        Raises:
            OptionError: For an array that is not a pose; the message describes the fault.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("arm6")
        >>> tool = kt.frame_placement(robot, robot.neutral(), "tool")
        >>> bool((kt.Transform.from_matrix(tool).matrix == tool).all())
        True
        """
        return Transform.of_matrix(pose_matrix("pose", pose))

    @staticmethod
    def of_matrix(pose: NDArray[np.float64]) -> Transform:
        """The transform of an array (4, 4) that is known to be a pose."""
        x, y, z, r = (Vec3(*map(float, pose[:3, k])) for k in range(4))
        return Transform(Mat3(x, y, z), r)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The homogeneous matrix (4, 4), which maps points of B to A: B's pose in A. Of constant transforms only."""
        return np.array([float(x) for x in self.homogeneous()]).reshape(4, 4)

    @property
    def motion_matrix(self) -> NDArray[np.float64]:
        """The spatial transform (6, 6) of motions from A to B, linear part first: [v; ω] in B is this times that in A.
        Of constant transforms only (RBDA eq. 2.24).

        >>> import kinetree as kt
        >>> X = kt.lie.placement((0.0, 0.0, 2.0))
        >>> (X.motion_matrix @ [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).tolist()  # 1 rad/s about x, seen 2 m above
        [0.0, -2.0, 0.0, 1.0, 0.0, 0.0]
        """
        E, r = self.rotation.T, self.r
        across = np.array([float(x) for x in Mat3.skew(r).components()]).reshape(3, 3)
        return np.block([[E, -E @ across], [np.zeros((3, 3)), E]])

    @property
    def force_matrix(self) -> NDArray[np.float64]:
        """The spatial transform (6, 6) of forces from A to B, linear part first: [f; n] in B is this times that in A.
        It is the transpose of the inverse of `motion_matrix` (RBDA eq. 2.25), so that power is the same in A and in B.
        """
        return self.inverse.motion_matrix.T

    @property
    def position(self) -> NDArray[np.float64]:
        """The origin of B in A, (3,)."""
        return self.matrix[:3, 3]

    @property
    def rotation(self) -> NDArray[np.float64]:
        """The rotation matrix (3, 3), from coordinates of B to those of A: its columns are the axes of B; Eᵀ."""
        return self.matrix[:3, :3]

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """The rotation as a unit quaternion x, y, z, w (4,), with w >= 0.

        >>> import kinetree as kt
        >>> X = kt.lie.placement((0.1, 0.2, 0.3), quaternion=(0.0, 0.6, 0.0, 0.8))
        >>> X.position.tolist(), X.quaternion.round(15).tolist()
        ([0.1, 0.2, 0.3], [0.0, 0.6, 0.0, 0.8])
        """
        x, y, z, w = (float(x) for x in quaternion_normalize(quaternion_from_matrix(self.E.T)))
        sign = -1.0 if w < 0.0 else 1.0
        return np.array([x, y, z, w]) * sign

    def to_scipy(self) -> Any:
        """The rotation as a `scipy.spatial.transform.Rotation`; `kt.lie.placement(position, rotation=…)` takes one."""
        return scipy_rotation(self.quaternion)

    def __repr__(self) -> str:
        raw = f"Transform(E={self.E!r}, r={self.r!r})"
        if not (isinstance(self.E, Mat3) and isinstance(self.r, Vec3)):  # what a user gave, in an error message
            return raw
        numbers = (*self.E.components(), *self.r.components())
        if not all(isinstance(x, int | float) and math.isfinite(x) for x in numbers):
            return raw
        factored = ".factored()" if self.turns or self.before is not None else ""
        if not factored and self.E.components() == _IDENTITY:
            return f"placement({self.r.components()!r})" if any(self.r.components()) else "Transform.identity()"
        return f"Transform.from_matrix({self.matrix.tolist()}){factored}"

    @property
    def inverse(self) -> Transform:
        return Transform(self.E.T, -(self.E @ self.r))

    def homogeneous(self) -> tuple[Scalar, ...]:
        """The 4 by 4 matrix that takes points of B to A, row by row: B's placement in A."""
        R, r = self.E.T, self.r
        return (
            *R.x.components(), r.x,
            *R.y.components(), r.y,
            *R.z.components(), r.z,
            0.0, 0.0, 0.0, 1.0,
        )  # fmt: skip


def _joined(last: tuple[Turn, ...], first: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Two sequences of turns as one; if they meet in turns about the same axis, these become a single turn."""
    if last and first and last[-1].axis == first[0].axis:
        a, b = last[-1], first[0]
        both = Turn(a.axis, a.s * b.c + a.c * b.s, a.c * b.c - a.s * b.s)
        return (*last[:-1], both, *first[1:])
    return last + first


_IDENTITY = Mat3.identity().components()
_RENAMING = frozenset((-1.0, 0.0, 1.0))


def _is_unturned(E: Mat3) -> bool:
    """Whether a rotation is the identity for all coordinates: arrays and symbols may have any value."""
    return all(isinstance(e, int | float) and e == one for e, one in zip(E.components(), _IDENTITY, strict=True))


def _only_renames_axes(E: Mat3) -> bool:
    """Whether a rotation is one of the 24 that cost nothing: each axis becomes another, or its opposite."""
    return all(isinstance(e, int | float) and e in _RENAMING for e in E.components())


def _turn_and_renaming(E: Mat3) -> tuple[Turn, Mat3] | None:
    """E = Rᵀ P with a turn R about a coordinate axis and a renaming P, if one row of the constant E only renames."""
    numbers = E.components()
    if any(isinstance(e, Symbol) for e in numbers):
        return None
    rows = [[float(e) for e in numbers[k : k + 3]] for k in (0, 3, 6)]
    for i, row in enumerate(rows):
        if sorted(map(abs, row)) != [0.0, 0.0, 1.0]:
            continue
        # P keeps this row and names the other two axes so that it is a rotation.
        j = [abs(e) for e in row].index(1.0)
        sign = row[j]
        names = [[0.0] * 3 for _ in range(3)]
        names[i][j] = sign
        names[(i + 1) % 3][(j + 1) % 3] = 1.0
        names[(i + 2) % 3][(j + 2) % 3] = sign
        P = Mat3(*(Vec3(*name) for name in names))
        R = P.times(E.T)
        around = [r.components() for r in (R.x, R.y, R.z)]
        k, m = (i + 1) % 3, (i + 2) % 3
        return Turn(i, around[m][k], around[k][k]), P
    return None


def _back_rigid(E_T: Mat3, r: Vec3, inertia: Inertia) -> Inertia:
    """RBDA eq. 2.66, by the products a x b x = b aᵀ - (a . b) 1."""
    h = E_T @ inertia.h
    h_A = h + r * inertia.mass
    s = r.dot(h + h_A)
    hr, rh = h.outer(r), r.outer(h_A)
    return Inertia(inertia.mass, h_A, inertia.I.rotated(E_T) + Sym3.scalar(s) - Sym3.upper(hr + rh))


def _back_articulated(E_T: Mat3, r: Vec3, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """Xᵀ Iᴬ X: rotate the three blocks, then shift the origin by -r."""
    M = inertia.M.rotated(E_T)
    H = E_T.times(inertia.H).times(E_T.T)
    rx = Mat3.skew(r)
    H_A = H + rx.times(M.full)
    return ArticulatedInertia(
        inertia.I.rotated(E_T) + Sym3.upper(rx.times(H.T) - H_A.times(rx)),
        H_A,
        M,
    )


def _back_coriolis(E_T: Mat3, r: Vec3, coriolis: CoriolisInertia) -> CoriolisInertia:
    """Xᵀ B X: rotate both parts, then shift the origin by -r; r x p x = p rᵀ - (r . p) 1."""
    p = E_T @ coriolis.p
    A = E_T.times(coriolis.A).times(E_T.T) - p.outer(r)
    return CoriolisInertia(A + Sym3.scalar(r.dot(p)).full, p)


def scipy_rotation(quaternions: Any) -> Any:
    """The `scipy.spatial.transform.Rotation` of quaternions x, y, z, w (…, 4); it raises ValueError for odd shapes."""
    try:
        from scipy.spatial.transform import Rotation
    except ImportError:
        raise MissingPackageError("to_scipy needs SciPy: pip install scipy") from None
    return Rotation.from_quat(quaternions)
