"""A body that slides on an ellipsoid, as a shoulder blade does on the rib cage."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.errors import ModelError
from kinetree.expr import Scalar, cos, sin
from kinetree.inputs import is_masked, plain
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.euler import signs_of, turning
from kinetree.joints.reversed import Reversed
from kinetree.spatial import Motion, Subspace, Transform, Vec3

__all__ = ["Ellipsoid"]


class Ellipsoid(JointKind):
    """Three angles q, in radians, with v = q̇: the moving side is rotated by R = Rx(q1) Ry(q2) Rz(q3), its origin is at
    p = (a n_x, b n_y, c n_z), where n is its z axis and a, b, c are the radii, in metres.

    So the origin stays on the ellipsoid, the z axis points out of it (normal to it at its poles, and everywhere if the
    radii are equal), and q3 is the rotation about that axis. R and p are in the fixed side's coordinates; at q = 0 the
    origin is at (0, 0, c), not at that of the fixed side. An entry −1 of `signs` reverses its angle, and `pole` −1 puts
    the origin at −p.

    The joint is singular where q2 is an odd multiple of π/2; see `robot.conditioning`.

    Raises `ModelError` for radii that are not three positive numbers.

    Source: Seth, Sherman, Eastman and Delp, "Minimal formulation of joint motion for biomechanisms", Nonlinear
    Dynamics 62 (2010), section 4; the coordinates are those of Pinocchio's JointModelEllipsoid.

    >>> import kinetree as kt
    >>> kt.joints.Ellipsoid([0.07, 0.11, 0.15]).description
    'ellipsoid of radii 0.07, 0.11, 0.15 m'
    """

    nq = nv = 3

    def __init__(self, radii: Sequence[float], *, signs: Sequence[float] = (1.0, 1.0, 1.0), pole: float = 1.0) -> None:
        try:
            numbers = () if isinstance(radii, str | bytes) or is_masked(radii) else tuple(float(r) for r in radii)
        except (TypeError, ValueError, OverflowError):
            numbers = ()
        if len(numbers) != 3 or not all(math.isfinite(r) and r > 0.0 for r in numbers):
            raise ModelError(f"the radii of an ellipsoid are three positive numbers of metres, not {radii!r:.60}")
        self.radii = numbers
        self.signs: tuple[float, ...] = signs_of("Ellipsoid", signs, 3)
        self.pole: float = plain(pole)
        if type(self.pole) is not float or self.pole not in (-1.0, 1.0):
            raise ModelError(f"Ellipsoid: pole must be 1 or -1, not {pole!r:.40}")

    def __repr__(self) -> str:
        signs = f", signs={self.signs}" if -1.0 in self.signs else ""
        return f"Ellipsoid({list(self.radii)}{signs}{', pole=-1.0' if self.pole < 0.0 else ''})"

    @property
    def description(self) -> str:
        return f"ellipsoid of radii {', '.join(f'{r:.4g}' for r in self.radii)} m"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("rx", "ry", "rz")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad",) * 3

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        turned = turning([(k, self.signs[k], q[k], v[k]) for k in range(3)])
        a, b, c = (self.pole * r for r in self.radii)
        # p = (a s2, -b s1 c2, c c1 c2), its derivatives with respect to q1 and q2, and its second time derivative at
        # constant rates.
        f, g = self.signs[0], self.signs[1]
        s1, c1, s2, c2 = sin(q[0]) * f, cos(q[0]), sin(q[1]) * g, cos(q[1])
        v1, v2 = v[0] * f, v[1] * g
        s12, c12, sc, cs = s1 * s2, c1 * c2, s1 * c2, c1 * s2
        p = Vec3(s2 * a, sc * -b, c12 * c)
        by1 = Vec3(0.0, c12 * -b, sc * -c)
        by2 = Vec3(c2 * a, s12 * b, cs * -c)
        squares, twice = v1 * v1 + v2 * v2, 2.0 * (v1 * v2)
        second = Vec3(p.x * -(v2 * v2), (sc * squares + cs * twice) * b, (s12 * twice - c12 * squares) * c)
        E = turned.X.E
        linear = E @ by1, E @ by2, Vec3.zero()
        signs = self.signs[0], self.signs[1], 1.0
        S = Subspace(tuple(Motion(w, x * s) for w, x, s in zip(turned.columns, linear, signs, strict=True)))
        moved = linear[0] * v1 + linear[1] * v2
        return JointMotion(
            turned.X @ Transform(Transform.identity().E, p),
            S,
            Motion(turned.w, moved),
            Motion(turned.c, E @ second + moved.cross(turned.w)),
        )

    def reversed(self) -> JointKind:
        return Reversed(self)

    def mirrored(self, normal: int) -> JointKind:
        """An angle about an axis other than the normal changes sign; if the normal is z, so does the origin."""
        signs = [s if k == normal else -s for k, s in enumerate(self.signs)]
        return Ellipsoid(self.radii, signs=signs, pole=-self.pole if normal == 2 else self.pole)

    def scaled(self, length: float) -> JointKind:
        return Ellipsoid([r * length for r in self.radii], signs=self.signs, pole=self.pole)
