"""Check that a joint kind is consistent, for user-defined joints and those composed of others.

Its motion is evaluated at a generic configuration: types, numbers of columns, the subspace against the derivative of
the placement, the bias acceleration against the derivative of the subspace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree import expr, joints
from kinetree.joints import Continuous, Fixed, JointKind, JointMotion, Prismatic, Revolute
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import JointSpec, fault
from kinetree.spatial import Motion, Subspace, Transform

__all__ = ["check_counts", "check_kinds", "is_trusted"]

_USUAL = frozenset((Continuous, Fixed, Prismatic, Revolute))
_STEP = 1e-5
_TOLERANCE = 1e-6
_DEPENDENT = 1e-9
"""Smallest singular value over the largest, below which columns of a subspace are dependent."""


def check_kinds(specs: Sequence[JointSpec], problems: Problems = STRICT) -> None:
    """Check joints' kinds; each inconsistent one is an error of the first joint that has it."""
    checked: set[JointKind] = set()
    for joint in specs:
        kind = type(joint.kind)
        if not is_trusted(kind) and kind not in _consistent() and joint.kind not in checked:
            checked.add(joint.kind)
            with problems.of():
                _Check(joint).run()


def is_trusted(kind: type[JointKind]) -> bool:
    """Whether instances of a kind cannot be wrong; files have very many of them."""
    return kind in _USUAL or kind is joints.Free


@cache
def _consistent() -> frozenset[type[JointKind]]:
    """Other kinds with no numbers that could make their motion inconsistent: directions and signs at most."""
    return frozenset({
        joints.Cylindrical, joints.Euler, joints.ExponentialMap, joints.FloatingBase, joints.FreeRPY, joints.Planar,
        joints.Spherical, joints.Translation,
    })  # fmt: skip


def check_counts(kind: JointKind, name: str, where: object) -> None:
    """Raise `ModelError` unless its nq and nv are valid numbers of coordinates and of degrees of freedom."""
    if is_trusted(type(kind)):
        return
    for count, most in (("nq", 99), ("nv", 6)):
        n = getattr(kind, count, None)
        if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n <= most:
            raise fault(
                where,
                f"joint {name!r}: its {count} must be a whole number from 0 to {most}, not {n!r:.40}",
                "bad-joint",
            )


class _Check:
    """Checks one kind at one state."""

    def __init__(self, joint: JointSpec) -> None:
        self._joint = joint
        self._kind = joint.kind
        self._where = f"{type(joint.kind).__name__}.calc"

    def run(self) -> None:
        kind = self._kind
        if kind.is_flat and kind.nq != kind.nv:
            self._fail(
                f"it has nq = {kind.nq} and nv = {kind.nv}; a kind with is_flat = True has v as the rates of q, so say "
                "is_flat = False and give integrate, difference, rates and their Jacobians"
            )
        self._names()
        infinite = (math.inf,) * kind.nq
        rng = np.random.default_rng(0)
        q = self._numbers("random", kind.random(rng, [-x for x in infinite], infinite), kind.nq)
        v = rng.uniform(0.5, 1.5, kind.nv).tolist()
        self._numbers("neutral", kind.neutral(), kind.nq)
        motion = self._motion(q, v)
        self._works_on_symbols()
        if kind.nv == 0:
            return
        if type(kind) is joints.Placed:
            # Seen from far away, turns about any axis look alike, and rounding is as large as the motion.
            while type(kind) is joints.Placed:
                kind = kind.kind
            self._kind, self._where = kind, f"{type(kind).__name__}.calc"
            motion = self._motion(q, v)
        S = _columns(motion.S)
        sizes = np.linalg.svd(S, compute_uv=False)
        if sizes[-1] <= _DEPENDENT * max(sizes[0], 1e-300):
            self._fail(
                f"the {kind.nv} columns of its motion subspace are dependent, so two of its degrees of freedom are "
                "one and the same motion; leave one out"
            )
        self._derivatives(q, v, motion)

    def _names(self) -> None:
        """Check its descriptive texts, and the places of its quaternions."""
        kind = self._kind
        for what, count, each in (
            ("q_names", kind.nq, "one a coordinate"),
            ("v_names", kind.nv, "one a degree of freedom"),
            ("q_units", kind.nq, "one a coordinate"),
        ):
            names = self._attribute(what)
            if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
                self._fail(f"its {what} must be a tuple of strings, {each}, not {names!r:.60}")
            if len(names) != count:
                self._fail(f"its {what} must be {count} in number, {each}, not {len(names)}: {names!r:.60}")
            if what != "q_units" and len(set(names)) != count:
                self._fail(f"its {what} must differ from each other, not {names!r:.60}")
        if not isinstance(self._attribute("description"), str):
            self._fail(f"its description must be a string, not {kind.description!r:.60}")
        starts = self._attribute("quaternions")
        if not isinstance(starts, tuple | list) or not all(type(k) is int and 0 <= k <= kind.nq - 4 for k in starts):
            self._fail(
                f"its quaternions must be a tuple of the places in its {kind.nq} coordinates where quaternions of four "
                f"begin, not {starts!r:.60}"
            )

    def _attribute(self, what: str) -> Any:
        try:
            return getattr(self._kind, what)
        except Exception as error:
            self._fail(f"its {what} raised {type(error).__name__}: {error}")

    def _motion(self, q: Sequence[float], v: Sequence[float]) -> JointMotion:
        try:
            motion = self._kind.calc(q, v)
        except Exception as error:
            self._fail(f"{self._where} raised {type(error).__name__}: {error}")
        if not isinstance(motion, tuple) or len(motion) != 4:
            self._fail(f"{self._where} must return a JointMotion (X_J, S, v_J, c_J), not {_article(motion)}")
        for name, part, expected in zip(
            JointMotion._fields, motion, (Transform, Subspace, Motion, Motion), strict=True
        ):
            if not isinstance(part, expected):
                self._fail(f"{self._where} must return a {expected.__name__} as {name}, not {_article(part)}")
        if len(motion[1].columns) != self._kind.nv:
            self._fail(
                f"{self._where} returned a motion subspace of {len(motion[1].columns)} columns, but nv = "
                f"{self._kind.nv}: one is needed for each degree of freedom"
            )
        for column in motion[1].columns:
            if not isinstance(column, Motion):
                self._fail(f"{self._where} returned {_article(column)} as a column of S; columns are Motions")
        result = JointMotion(*motion)
        numbers = [*result.X_J.E.components(), *result.X_J.r.components(), *_six(result.v_J), *_six(result.c_J)]
        numbers += [x for column in result.S.columns for x in _six(column)]
        self._numbers("calc", numbers, len(numbers))
        return result

    def _works_on_symbols(self) -> None:
        """Run it on symbols: `math.sin` and branches do not work on them."""
        kind = self._kind

        def one_sample(q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
            motion = kind.calc(q, v)
            return [[*motion.X_J.r.components(), *_six(motion.c_J)]]

        inputs = [expr.Port("q", (kind.nq,)), expr.Port("v", (kind.nv,))]
        try:
            expr.run_on_symbols(expr.Graph(), one_sample, inputs, [expr.Port("x", (9,))])
        except Exception as error:
            self._fail(
                f"{self._where} does not work on symbols ({type(error).__name__}: {error}); use the functions of "
                "kinetree.expr (sin, cos, sqrt, select, …) and no branches on coordinates"
            )

    def _derivatives(self, q: list[float], v: list[float], motion: JointMotion) -> None:
        """Compare S v with the placement's derivative, and c_J with that of S v."""
        kind, h = self._kind, _STEP
        self._close("v_J", _array(motion.v_J), _columns(motion.S) @ np.array(v), "is not S v")
        before, after = (kind.calc(kind.integrate(q, [s * x for x in v]), v) for s in (-h, h))
        X, c = motion.X_J, (_array(after.v_J) - _array(before.v_J)) / (2.0 * h)
        E, E_dot = _matrix(X), (_matrix(after.X_J) - _matrix(before.X_J)) / (2.0 * h)
        r_dot = (np.array(after.X_J.r.components()) - np.array(before.X_J.r.components())) / (2.0 * h)
        spin = -E_dot @ E.T  # the matrix of ω x in the moving side's coordinates
        moved = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *(E @ r_dot)], dtype=np.float64)
        self._close(
            "S", _array(motion.v_J), moved, "does not lead where the placement X_J goes: S v is not its velocity"
        )
        self._close("c_J", _array(motion.c_J), c, "is not the derivative of S v at constant v")

    def _close(self, name: str, given: NDArray[Any], expected: NDArray[Any], wrong: str) -> None:
        scale = max(1.0, float(np.abs(expected).max()))
        if np.abs(given - expected).max() > _TOLERANCE * scale:
            shown = ", ".join(f"{x:.4g}" for x in given), ", ".join(f"{x:.4g}" for x in expected)
            self._fail(
                f"the {name} of {self._where} {wrong}: [ω; v] = [{shown[0]}] at a generic state, expected [{shown[1]}]"
            )

    def _numbers(self, what: str, values: Any, count: int) -> list[float]:
        try:
            numbers = [float(x) for x in values]
        except (TypeError, ValueError):
            self._fail(f"{type(self._kind).__name__}.{what} returned {values!r:.60}, which are not real numbers")
        if len(numbers) != count:
            self._fail(f"{type(self._kind).__name__}.{what} returned {len(numbers)} numbers; {count} are expected")
        if not all(map(math.isfinite, numbers)):
            self._fail(f"{type(self._kind).__name__}.{what} returned a number that is not finite")
        return numbers

    def _fail(self, sentence: str) -> NoReturn:
        raise fault(self._joint.where, f"joint {self._joint.name!r}: {sentence}", "bad-joint") from None


def _article(thing: object) -> str:
    return f"a {type(thing).__name__}" if not isinstance(thing, expr.Symbol) else "a symbol"


def _six(motion: Motion) -> tuple[Any, ...]:
    return (*motion.angular.components(), *motion.linear.components())


def _array(motion: Motion) -> NDArray[np.float64]:
    return np.array(_six(motion), dtype=np.float64)


def _columns(S: Subspace) -> NDArray[np.float64]:
    return np.array([_six(column) for column in S.columns], dtype=np.float64).reshape(-1, 6).T


def _matrix(X: Transform) -> NDArray[np.float64]:
    return np.array(X.E.components(), dtype=np.float64).reshape(3, 3)
