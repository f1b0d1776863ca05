"""How a joint's coordinates change when its motion is mirrored or scaled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError, ModelError
from kinetree.joints import JointKind
from kinetree.model.changes.kinds import is_same
from kinetree.records import record
from kinetree.spatial import Motion, Transform

__all__ = ["Image"]

_CLOSE = 1e-9
_ROUNDING = 1e-13
"""Tolerance around a factor of 1 or -1, so that mirroring twice gives exactly the original."""


@record(frozen=True)
class Image:
    """For joints that are not flat: v becomes P v, and q the neutral q displaced by P times its displacement.

    This is right wherever equal rates keep their meaning under the change, as they do for all of kinetree's kinds; `of`
    checks it at a generic configuration.
    """

    kind: JointKind
    other: JointKind
    P: NDArray[np.float64]

    @staticmethod
    def of(
        name: str,
        kind: JointKind,
        other: JointKind,
        change: Callable[[Motion], Motion],
        placed: Callable[[Transform], Transform],
    ) -> Image:
        """The image for a joint of this name whose motions are mapped by `change` and its placements by `placed`."""
        try:
            return Image._found(name, kind, other, change, placed)
        except KinetreeError:
            raise
        except Exception as error:  # a user's own kind may raise anything
            raise ModelError(
                f"joint {name!r} ({kind.description}): its new coordinates could not be computed, because its "
                f"kind raised {type(error).__name__}: {error!s:.200}"
            ) from None

    @staticmethod
    def _found(
        name: str,
        kind: JointKind,
        other: JointKind,
        change: Callable[[Motion], Motion],
        placed: Callable[[Transform], Transform],
    ) -> Image:
        start, end = kind.neutral(), other.neutral()
        S, S_other = _columns(kind, start, change), _columns(other, end, _as_it_is)
        P, _, rank, _ = np.linalg.lstsq(S_other, S, rcond=_CLOSE)
        P = np.where(np.abs(P) < _CLOSE, 0.0, P)
        image = Image(kind, other, np.where(np.abs(np.abs(P) - 1.0) < _ROUNDING, np.sign(P), P))
        infinite = (np.inf,) * kind.nq
        q = kind.random(np.random.default_rng(0), [-x for x in infinite], infinite)
        goal = image.configuration(q)
        moved = _columns(other, goal, _as_it_is) @ image.P
        fits = rank == kind.nv and np.allclose(moved, _columns(kind, q, change), atol=_CLOSE)
        if not fits or not is_same(_placement(other, goal), placed(_placement(kind, q))):
            raise ModelError(
                f"joint {name!r} ({kind.description}): its new coordinates do not follow from the old ones; compute "
                "them from frame placements"
            )
        return image

    def configuration(self, q: Sequence[Any]) -> list[Any]:
        """The image of a configuration, given as numbers or arrays, one per coordinate."""
        moved = self.velocity(self.kind.difference(self.kind.neutral(), q))
        return self.other.integrate(self.other.neutral(), moved)

    def velocity(self, v: Sequence[Any]) -> list[Any]:
        """The image of a velocity."""
        return [sum((p * x for p, x in zip(row, v, strict=True) if p), 0.0 * v[0]) for row in self.P.tolist()]

    def factors(self) -> list[float]:
        """The factor on each coordinate where the image is that simple; NaN elsewhere."""
        rng = np.random.default_rng(1)
        infinite = (np.inf,) * self.kind.nq
        ratios = []
        for _ in range(2):
            q = self.kind.random(rng, [-x for x in infinite], infinite)
            ratios.append(np.array(self.configuration(q)) / np.array(q))
        return [float(a) if abs(a - b) < _CLOSE * abs(a) else np.nan for a, b in zip(*ratios, strict=True)]


def _as_it_is(motion: Motion) -> Motion:
    return motion


def _placement(kind: JointKind, q: Sequence[float]) -> Transform:
    return kind.calc(q, (0.0,) * kind.nv).X_J.plain()


def _columns(kind: JointKind, q: Sequence[float], change: Callable[[Motion], Motion]) -> NDArray[np.float64]:
    columns = kind.calc(q, (0.0,) * kind.nv).S.columns
    return np.array([change(column).linear_first() for column in columns], dtype=np.float64).T
