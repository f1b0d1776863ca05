"""How other libraries write the velocity of one joint, and therefore accelerations and forces.

Theirs is v' = B(q) v. The rest follows: forces keep their power, τ' = B⁻ᵀ τ, and accelerations are the derivatives of
v', q̈' = B q̈ + Ḃ v. Numbers are arrays, one per degree of freedom; q is always ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.joints import JointKind
from kinetree.layouts.coordinates import Map, Numbers
from kinetree.spatial import Mat3, Motion, Vec3

__all__ = ["Basis", "ChainBasis", "SubspaceBasis", "TurnedBasis", "rotation_of"]

Triple = tuple[int, int, int]


class Basis:
    """Our velocity in another order: entry k of theirs is entry `order[k]` of ours."""

    def __init__(self, names: Sequence[str], order: Sequence[int] | None = None) -> None:
        self._order = list(range(len(names)) if order is None else order)
        self._back = [self._order.index(k) for k in range(len(names))]
        self.names: tuple[str, ...] = tuple(names[k] for k in self._order)

    def to(self, q: Numbers, v: Numbers) -> Numbers:
        """B v."""
        return [v[k] for k in self._order]

    def back(self, q: Numbers, v: Numbers) -> Numbers:
        """B⁻¹ v'."""
        return [v[k] for k in self._back]

    def force_to(self, q: Numbers, tau: Numbers) -> Numbers:
        """B⁻ᵀ τ, which is B τ where B is a rotation, as most are."""
        return self.to(q, tau)

    def force_back(self, q: Numbers, tau: Numbers) -> Numbers:
        """Bᵀ τ'."""
        return self.back(q, tau)

    def drift(self, q: Numbers, v: Numbers) -> Numbers:
        """Ḃ v, from our v."""
        return [0.0] * len(self._order)


class TurnedBasis(Basis):
    """A basis in which vectors within v are written in the axes of the joint's other side.

    `vectors` are triples of places in our v, None for a component that is always zero, and `spin` is that of the
    angular velocity, in the moving side's axes. `into` is "fixed" for vectors that we write in the moving side's axes
    and they in the fixed side's, "moving" for the reverse.
    """

    def __init__(
        self,
        names: Sequence[str],
        into: str,
        vectors: Sequence[Sequence[int | None]],
        spin: Sequence[int | None],
        rotation: Callable[[Numbers], Mat3],
        order: Sequence[int] | None = None,
    ) -> None:
        super().__init__(names, order)
        self._into_fixed = into == "fixed"
        self._vectors = vectors
        self._spin = spin
        self._rotation = rotation

    def to(self, q: Numbers, v: Numbers) -> Numbers:
        return super().to(q, self._turned(self._matrix(q), v))

    def back(self, q: Numbers, v: Numbers) -> Numbers:
        return self._turned(self._matrix(q).T, super().back(q, v))

    def drift(self, q: Numbers, v: Numbers) -> Numbers:
        """Ṙ u = R (ω x u); for the transpose, -ω x Rᵀ u."""
        spin, M = _vector(v, self._spin), self._matrix(q)
        rates: Numbers = [0.0] * len(v)
        for places in self._vectors:
            u = _vector(v, places)
            _put(rates, places, M @ spin.cross(u) if self._into_fixed else -spin.cross(M @ u))
        return super().to(q, rates)

    def _matrix(self, q: Numbers) -> Mat3:
        R = self._rotation(q)
        return R if self._into_fixed else R.T

    def _turned(self, M: Mat3, v: Numbers) -> Numbers:
        turned = list(v)
        for places in self._vectors:
            _put(turned, places, M @ _vector(v, places))
        return turned


class ChainBasis(Basis):
    """The bases of several joints in series; `nq` and `nv` are the sizes of our q and v of each."""

    def __init__(self, parts: Sequence[Basis], nq: Sequence[int], nv: Sequence[int]) -> None:
        super().__init__([f"{k}.{name}" if name else str(k) for k, part in enumerate(parts, 1) for name in part.names])
        self._parts = parts
        self._q, self._v = [0, *accumulate(nq)], [0, *accumulate(nv)]

    def to(self, q: Numbers, v: Numbers) -> Numbers:
        return self._each("to", q, v)

    def back(self, q: Numbers, v: Numbers) -> Numbers:
        return self._each("back", q, v)

    def force_to(self, q: Numbers, tau: Numbers) -> Numbers:
        return self._each("force_to", q, tau)

    def force_back(self, q: Numbers, tau: Numbers) -> Numbers:
        return self._each("force_back", q, tau)

    def drift(self, q: Numbers, v: Numbers) -> Numbers:
        return self._each("drift", q, v)

    def _each(self, method: str, q: Numbers, v: Numbers) -> Numbers:
        numbers: Numbers = []
        for k, part in enumerate(self._parts):
            own = q[self._q[k] : self._q[k + 1]], v[self._v[k] : self._v[k + 1]]
            numbers += getattr(part, method)(*own)
        return numbers


class SubspaceBasis(Basis):
    """The basis of a joint whose coordinates differ from theirs: v gives its twist S v, and `basis` does the rest.

    `pick` selects the numbers of a motion that are used, as many as the joint has degrees of freedom, and `coordinates`
    gives the q at which `basis` is evaluated.
    """

    def __init__(self, kind: JointKind, pick: Callable[[Motion], Numbers], coordinates: Map, basis: Basis) -> None:
        super().__init__(basis.names)
        self._kind, self._pick, self._coordinates, self._basis = kind, pick, coordinates, basis

    def to(self, q: Numbers, v: Numbers) -> Numbers:
        return self._basis.to(self._coordinates(q), _times(self._matrix(q), v))

    def back(self, q: Numbers, v: Numbers) -> Numbers:
        return _solved(self._matrix(q), self._basis.back(self._coordinates(q), v))

    def force_to(self, q: Numbers, tau: Numbers) -> Numbers:
        return self._basis.force_to(self._coordinates(q), _solved(np.swapaxes(self._matrix(q), -1, -2), tau))

    def force_back(self, q: Numbers, tau: Numbers) -> Numbers:
        force = self._basis.force_back(self._coordinates(q), tau)
        return _times(np.swapaxes(self._matrix(q), -1, -2), force)

    def drift(self, q: Numbers, v: Numbers) -> Numbers:
        """Ḃ v, including the twist's own drift: B' (Ṡ v) + Ḃ' S v."""
        there = self._coordinates(q)
        carried = self._basis.to(there, self._pick(self._kind.calc(q, v).c_J))
        own = self._basis.drift(there, _times(self._matrix(q), v))
        return [a + b for a, b in zip(carried, own, strict=True)]

    def _matrix(self, q: Numbers) -> NDArray[Any]:
        S = self._kind.calc(q, [0.0] * self._kind.nv).S
        columns = [_stacked(self._pick(column)) for column in S.columns]
        return np.stack(np.broadcast_arrays(*columns), axis=-1)


def rotation_of(kind: JointKind) -> Callable[[Numbers], Mat3]:
    """The rotation R of a joint at q, from coordinates of its moving side to those of its fixed side."""
    return lambda q: kind.calc(q, [0.0] * kind.nv).X_J.E.T


def _vector(v: Numbers, places: Sequence[int | None]) -> Vec3:
    return Vec3(*(0.0 if k is None else v[k] for k in places))


def _put(v: Numbers, places: Sequence[int | None], vector: Vec3) -> None:
    for k, x in zip(places, vector.components(), strict=True):
        if k is not None:
            v[k] = x


def _stacked(numbers: Numbers) -> NDArray[Any]:
    return np.stack(np.broadcast_arrays(*numbers), axis=-1)


def _times(M: NDArray[Any], v: Numbers) -> Numbers:
    x = np.einsum("...ij,...j->...i", M, _stacked(v))
    return [x[..., k] for k in range(x.shape[-1])]


def _solved(M: NDArray[Any], v: Numbers) -> Numbers:
    x = np.linalg.solve(M, _stacked(v)[..., None])[..., 0]
    return [x[..., k] for k in range(x.shape[-1])]
