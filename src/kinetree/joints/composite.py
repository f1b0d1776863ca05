"""Composite joints: several joints in series, without bodies between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion, Matrix
from kinetree.joints.reversed import Reversed
from kinetree.spatial import Force, Inertia, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.spatial.mirror import mirror_image_of_placement
from kinetree.spatial.plain import plain_transform
from kinetree.spatial.poses import pose

__all__ = ["Composite", "Part", "unseen_by_trial"]

Part = tuple[JointKind, Transform]
"""A joint, and the placement of its fixed side in the part before it."""
_IDENTITY = Transform.identity()
_ROTATION_TOLERANCE = 1e-9


class Composite(JointKind):
    """Several joints in series as one joint, equivalent to a chain of them with massless bodies between.

    q and v are those of the parts in order, in the parts' own layouts. Each part has a placement in the moving side of
    the part before it (the first: in the fixed side). Parts may be fixed, or composites themselves; together they have
    at most six degrees of freedom. The neutral coordinates are the parts'; with placements, the two sides do not
    coincide there.

    Args:
        parts: joint kinds, or pairs (kind, placement); a placement is a `Transform` or an array (4, 4).

    Raises:
        ModelError: no part moves, or one is not a joint kind or has an invalid placement.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.4.

    >>> import kinetree as kt
    >>> knee = kt.joints.Composite([kt.Revolute([0, 1, 0]), kt.Prismatic([0, 0, 1])])
    >>> knee.q_names
    ('1', '2')
    """

    def __init__(self, parts: Sequence[JointKind | Part]) -> None:
        self.parts: tuple[Part, ...] = _checked(parts)
        """Kinds and placements, in order."""

    def __repr__(self) -> str:
        shown = ", ".join(repr(kind) if X == _IDENTITY else f"({kind!r}, {X!r})" for kind, X in self.parts)
        return f"{type(self).__name__}([{shown}])"

    @property
    def nq(self) -> int:  # type: ignore[override]
        return sum(kind.nq for kind, _ in self.parts)

    @property
    def nv(self) -> int:  # type: ignore[override]
        return sum(kind.nv for kind, _ in self.parts)

    @property
    def quaternions(self) -> tuple[int, ...]:  # type: ignore[override]
        starts = accumulate((kind.nq for kind, _ in self.parts), initial=0)
        return tuple(start + k for (kind, _), start in zip(self.parts, starts, strict=False) for k in kind.quaternions)

    @property
    def is_flat(self) -> bool:  # type: ignore[override]
        return all(kind.is_flat for kind, _ in self.parts)

    @property
    def description(self) -> str:
        return "composite of " + ", ".join(kind.description for kind, _ in self.parts)

    @property
    def q_names(self) -> tuple[str, ...]:
        """The names of the parts' coordinates, each after the number of its part, counted from 1."""
        return _numbered([kind.q_names for kind, _ in self.parts])

    @property
    def v_names(self) -> tuple[str, ...]:
        return _numbered([kind.v_names for kind, _ in self.parts])

    @property
    def q_units(self) -> tuple[str, ...]:
        return tuple(unit for kind, _ in self.parts for unit in kind.q_units)

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        """RBDA's outward recursion (table 5.1) over the parts, with the fixed side at rest."""
        X_J, v_J, a = _IDENTITY, Motion.zero(), Motion.zero()
        columns: list[Motion] = []
        for (kind, placement), q_k, v_k in self._split(q, v):
            own = kind.calc(q_k, v_k)
            X = own.X_J @ placement.factored()
            X_J = X @ X_J
            columns = [*(X @ column for column in columns), *own.S.columns]
            v_J = X @ v_J + own.v_J
            a = X @ a + own.c_J + v_J.cross(own.v_J)
        return JointMotion(X_J, Subspace(tuple(columns)), v_J, a)

    def neutral(self) -> tuple[float, ...]:
        return tuple(x for kind, _ in self.parts for x in kind.neutral())

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        numbers: list[float] = []
        for kind, _ in self.parts:
            own = slice(len(numbers), len(numbers) + kind.nq)
            numbers += kind.random(rng, lower[own], upper[own])
        return tuple(numbers)

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), q_k, v_k in self._split(q, v) for x in kind.integrate(q_k, v_k)]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), a, b in self._split(q0, q1, of="qq") for x in kind.difference(a, b)]

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), q_k, v_k in self._split(q, v) for x in kind.rates(q_k, v_k)]

    def turning_rate(self, v: Sequence[Any]) -> list[Any]:
        numbers: list[Any] = []
        for kind, _ in self.parts:
            numbers += kind.turning_rate(v[len(numbers) : len(numbers) + kind.nv])
        return numbers

    def seen_from_fixed(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), q_k, v_k in self._split(q, v) for x in kind.seen_from_fixed(q_k, v_k)]

    def seen_from_moving(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), q_k, v_k in self._split(q, v) for x in kind.seen_from_moving(q_k, v_k)]

    def displaced(self, q: Sequence[Any], d: Sequence[Any]) -> list[Any]:
        return [x for (kind, _), q_k, d_k in self._split(q, d) for x in kind.displaced(q_k, d_k)]

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        numbers: list[Any] = []
        for (kind, _), q_k, d_k in self._split(q, d):
            own = slice(len(numbers), len(numbers) + kind.nv)
            numbers += kind.displacement_rate(q_k, d_k, v[own])
        return numbers

    def in_fixed_axes(self) -> JointKind:
        kinds = [kind.in_fixed_axes() for kind, _ in self.parts]
        if all(new is old for new, (old, _) in zip(kinds, self.parts, strict=True)):
            return self
        return Composite([(kind, X) for kind, (_, X) in zip(kinds, self.parts, strict=True)])

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return _diagonal([kind.integrate_jacobians(q_k, v_k) for (kind, _), q_k, v_k in self._split(q, v)])

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        return _diagonal([kind.difference_jacobians(a, b) for (kind, _), a, b in self._split(q0, q1, of="qq")])

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        pieces = [kind.rechart(q_k, v_k) for (kind, _), q_k, v_k in self._split(q, v)]
        return [x for piece, _ in pieces for x in piece], [x for _, piece in pieces for x in piece]

    @property
    def recharts(self) -> bool:
        return any(kind.recharts for kind, _ in self.parts)

    def aligned(self) -> tuple[JointKind, Transform]:
        """Each part in axes that suit it, where its own are not as good; the last part's are the body's."""
        kinds, turns = zip(*(_aligned(kind) for kind, _ in self.parts), strict=True)
        if all(turn == _IDENTITY for turn in turns):
            return self, _IDENTITY
        # X_k = T_k⁻¹ X'_k T_k: each placement takes its own part's T and the T⁻¹ of the part before, the first that of
        # the last.
        before = (turns[-1], *turns[:-1])
        placements = [
            (turn @ X @ last.inverse).plain() for turn, (_, X), last in zip(turns, self.parts, before, strict=True)
        ]
        return Composite(list(zip(kinds, placements, strict=True))), turns[-1]

    def reversed(self) -> JointKind | None:
        """The composite reversed; None if it is not flat."""
        return Reversed(self) if self.is_flat else None

    def mirrored(self, normal: int) -> JointKind | None:
        return self._each(lambda kind: kind.mirrored(normal), lambda X: mirror_image_of_placement(X, normal))

    def scaled(self, length: float) -> JointKind | None:
        return self._each(lambda kind: kind.scaled(length), lambda X: Transform(X.E, X.r * length))

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, equal moments across a coordinate axis, or all rotational inertia, as found by trial."""
        return unseen_by_trial(self, inertia)

    def _each(
        self, change: Callable[[JointKind], JointKind | None], move: Callable[[Transform], Transform]
    ) -> JointKind | None:
        """The composite of the changed parts; None if one has no such kind."""
        changed = [(change(kind), move(X)) for kind, X in self.parts]
        kinds = [(kind, X) for kind, X in changed if kind is not None]
        return Composite(kinds) if len(kinds) == len(changed) else None

    def _split(
        self, x: Sequence[Any], y: Sequence[Any], of: str = "qv"
    ) -> Iterator[tuple[Part, Sequence[Any], Sequence[Any]]]:
        """Each part with its slices of a q and a v, or of two q."""
        i = j = 0
        for kind, placement in self.parts:
            m, n = kind.nq, kind.nq if of == "qq" else kind.nv
            yield (kind, placement), x[i : i + m], y[j : j + n]
            i, j = i + m, j + n


def _checked(parts: Sequence[JointKind | Part]) -> tuple[Part, ...]:
    """The parts as pairs of a kind and a placement, checked."""
    try:
        given = list(parts)
    except TypeError:
        raise ModelError(f"Composite: its parts must be a list of joint kinds, not {parts!r:.60}") from None
    pairs = [_pair(k, part) for k, part in enumerate(given, 1)]
    if not any(kind.nv for kind, _ in pairs):
        raise ModelError("Composite: none of its parts moves; use Fixed, with the placement in add_joint")
    return tuple(pairs)


def _pair(k: int, part: JointKind | Part) -> Part:
    if isinstance(part, JointKind):
        return part, _IDENTITY
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], JointKind):
        raise ModelError(f"Composite: part {k} must be a joint kind, or a pair (kind, placement), not {part!r:.60}")
    kind, X = part
    X = pose(f"Composite: the placement of part {k}", X, ModelError)
    try:
        E = np.array(X.E.components(), dtype=np.float64).reshape(3, 3)
        r = np.array(X.r.components(), dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"Composite: the placement of part {k} has entries that are not numbers") from None
    if not (np.isfinite(E).all() and np.isfinite(r).all()):
        raise ModelError(f"Composite: the placement of part {k} is not finite")
    if np.abs(E @ E.T - np.eye(3)).max() > _ROTATION_TOLERANCE or np.linalg.det(E) < 0.0:
        raise ModelError(f"Composite: the E of the placement of part {k} is not a rotation matrix (E Eᵀ = 1)")
    return kind, plain_transform(X.plain())


def _numbered(names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{k}.{name}" if name else str(k) for k, own in enumerate(names, 1) for name in own)


def _diagonal(blocks: Sequence[tuple[Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
    """Two block-diagonal matrices from pairs of blocks."""
    n = sum(len(block) for block, _ in blocks)
    first: Matrix = []
    second: Matrix = []
    for a, b in blocks:
        left = [0.0] * len(first)
        right = [0.0] * (n - len(first) - len(a))
        second += [[*left, *row, *right] for row in b]
        first += [[*left, *row, *right] for row in a]
    return first, second


def _aligned(kind: JointKind) -> tuple[JointKind, Transform]:
    """The kind's own `aligned`, or the kind unchanged where that would only rename axes."""
    better, turn = kind.aligned()
    renamed = {abs(float(e)) for e in turn.E.components()} <= {0.0, 1.0} and not any(turn.r.components())
    return (kind, _IDENTITY) if renamed else (better, turn)


_MASS, _MOMENTS, _ROTATION, _RODS = "mass", "moments", "rotation", "rods"
_STATES = 3
_TOLERANCE = 1e-12


def unseen_by_trial(kind: JointKind, inertia: Inertia) -> Inertia:
    """The mass, first moments along axes, all rotational inertia or equal moments across an axis: all that is unseen.

    A part is unseen if no motion of the joint requires a force for it (ΔI S = 0) and no position of the joint changes
    it (X_Jᵀ ΔI X_J = ΔI). These conditions are analytic in q, so they are tested at a few generic configurations.
    """
    free = _free(kind)
    mass = inertia.mass if (_MASS, 0) in free else 0.0
    h = Vec3(*(x if (_MOMENTS, k) in free else 0.0 for k, x in enumerate(inertia.h.components())))
    if (_ROTATION, 0) in free:
        return Inertia(mass, h, inertia.I)
    rods = [k for k in range(3) if (_RODS, k) in free]
    if not rods:
        return Inertia(mass, h, Sym3.zero())
    across = (inertia.I.xx, inertia.I.yy, inertia.I.zz)[(rods[0] + 2) % 3]
    xx, yy, zz = (0.0 if k == rods[0] else across for k in range(3))
    return Inertia(mass, h, Sym3(xx, yy, zz, 0.0, 0.0, 0.0))


@lru_cache(maxsize=1024)
def _free(kind: JointKind) -> frozenset[tuple[str, int]]:
    """The candidates that are unseen."""
    units = [Vec3(*(float(k == n) for k in range(3))) for n in range(3)]
    candidates = {(_MASS, 0): [Inertia(1.0, Vec3.zero(), Sym3.zero())]}
    candidates |= {(_MOMENTS, k): [Inertia(0.0, units[k], Sym3.zero())] for k in range(3)}
    candidates[_ROTATION, 0] = [_rotational(*(float(n == k) for n in range(6))) for k in range(6)]
    candidates |= {(_RODS, k): [_rotational(*(float(n != k) for n in range(3)))] for k in range(3)}
    rng = np.random.default_rng(0)
    infinite = [math.inf] * kind.nq
    positions = [kind.random(rng, [-x for x in infinite], infinite) for _ in range(_STATES)]
    return frozenset(name for name, parts in candidates.items() if _is_free(kind, positions, parts))


def _is_free(kind: JointKind, positions: Sequence[Sequence[float]], parts: Sequence[Inertia]) -> bool:
    for q in positions:
        X_J, S, _, _ = kind.calc(q, [0.0] * kind.nv)
        for part in parts:
            if any(np.abs(_force(part @ column)).max() > _TOLERANCE for column in S.columns):
                return False
            if np.abs(_ten(X_J.back(part)) - _ten(part)).max() > _TOLERANCE:
                return False
    return True


def _force(f: Force) -> NDArray[np.float64]:
    return np.array(f.linear_first(), dtype=np.float64)


def _ten(inertia: Inertia) -> NDArray[np.float64]:
    return np.array([inertia.mass, *inertia.h.components(), *inertia.I.components()], dtype=np.float64)


def _rotational(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> Inertia:
    return Inertia(0.0, Vec3.zero(), Sym3(xx, yy, zz, xy, xz, yz))
