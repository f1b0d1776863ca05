"""What becomes of a joint's coordinates when its motion is mirrored or made larger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.model.joints import JointKind
from kinetree.spatial import Motion

__all__ = ["Image"]

_CLOSE = 1e-9


@dataclass(frozen=True)
class Image:
    """Of joints that are not flat: v becomes P v, and q what is reached from the neutral q by P times its displacement.

    That is right wherever equal rates keep their meaning under the change, as they do for all kinds of ours; `of`
    checks it at a configuration with nothing special about it.
    """

    kind: JointKind
    other: JointKind
    P: NDArray[np.float64]

    @staticmethod
    def of(name: str, kind: JointKind, other: JointKind, change: Callable[[Motion], Motion]) -> Image:
        """For a joint of this name whose motions become `change` of them."""
        start, end = kind.neutral(), other.neutral()
        S, S_other = _columns(kind, start, change), _columns(other, end, _as_it_is)
        P, _, rank, _ = np.linalg.lstsq(S_other, S, rcond=_CLOSE)
        image = Image(kind, other, np.where(np.abs(P) < _CLOSE, 0.0, P))
        infinite = (np.inf,) * kind.nq
        q = kind.random(np.random.default_rng(0), [-x for x in infinite], infinite)
        moved = _columns(other, image.configuration(q), _as_it_is) @ image.P
        if rank < kind.nv or not np.allclose(moved, _columns(kind, q, change), atol=_CLOSE):
            raise ModelError(
                f"joint {name!r} ({kind.description}): its coordinates do not tell what they become; compute them from "
                "frame placements"
            )
        return image

    def configuration(self, q: Sequence[Any]) -> list[Any]:
        """Where a configuration goes; numbers or arrays, one a coordinate."""
        moved = self.velocity(self.kind.difference(self.kind.neutral(), q))
        return self.other.integrate(self.other.neutral(), moved)

    def velocity(self, v: Sequence[Any]) -> list[Any]:
        """Where a velocity goes."""
        return [sum((p * x for p, x in zip(row, v, strict=True) if p), 0.0 * v[0]) for row in self.P.tolist()]

    def factors(self) -> list[float]:
        """What each coordinate is multiplied by, where it is so simple; NaN where it is not."""
        rng = np.random.default_rng(1)
        infinite = (np.inf,) * self.kind.nq
        ratios = []
        for _ in range(2):
            q = self.kind.random(rng, [-x for x in infinite], infinite)
            ratios.append(np.array(self.configuration(q)) / np.array(q))
        return [float(a) if abs(a - b) < _CLOSE * abs(a) else np.nan for a, b in zip(*ratios, strict=True)]


def _as_it_is(motion: Motion) -> Motion:
    return motion


def _columns(kind: JointKind, q: Sequence[float], change: Callable[[Motion], Motion]) -> NDArray[np.float64]:
    columns = kind.calc(q, (0.0,) * kind.nv).S.columns
    return np.array([change(column).linear_first() for column in columns], dtype=np.float64).T
