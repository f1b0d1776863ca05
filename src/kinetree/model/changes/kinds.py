"""The inverse, mirror image and scaled version of a kind of joint, with checks that they are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError, NameNotFoundError, OptionError, nearest_names, quoted
from kinetree.inputs import number_between, real_number
from kinetree.joints import JointKind, Revolute
from kinetree.joints.revolute import Continuous
from kinetree.model.changes.common import Changed, base_joint, closed, frame_names, joint_names, opened, unused
from kinetree.model.checks.kinds import check_counts, check_kinds, is_trusted
from kinetree.model.robot import Robot
from kinetree.model.specs import JointSpec, at
from kinetree.spatial import Transform

__all__ = ["is_same", "reversed_kind", "same_kind", "with_elastic_joint"]

_CLOSE = 1e-7
_NEAR = 0.3
"""Distance from a joint's start at which it is compared with an inverse that has coordinates of its own."""
_STEPS = 50


def reversed_kind(spec: JointSpec) -> JointKind | None:
    """The inverse kind, checked. None if it has none; raises `ModelError` if the kind returned is not the inverse."""
    kind = spec.kind
    other = _given(spec, "reversed", kind.reversed)
    if other is None or is_trusted(type(kind)):
        return other
    check = _Check(spec, other, "reversed", "the inverse of the joint")
    if kind.is_flat:
        check.placements(lambda q: q, lambda X: X.inverse)
    else:
        check.reaches_inverse()
    return other


def same_kind(
    spec: JointSpec,
    method: str,
    make: Callable[[], object],
    what: str,
    configuration: Callable[[Sequence[float]], Sequence[float]] | None,
    change: Callable[[Transform], Transform],
) -> JointKind | None:
    """The kind that a method returns, checked: at `configuration` of q its placement is `change` of the original's.

    Without a `configuration` the placements are not compared. None if it does not exist; raises `ModelError` if the
    kind returned fails the check.
    """
    other = _given(spec, method, make)
    if other is not None and not is_trusted(type(spec.kind)):
        check = _Check(spec, other, method, what)
        if configuration is not None:
            check.placements(configuration, change)
    return other


def is_same(X: Transform, Y: Transform) -> bool:
    """Whether two placements are equal up to rounding, relative to the distance."""
    return bool(_distance(X, Y) <= _CLOSE * max(1.0, *np.abs(_twelve(Y))))


def _given(spec: JointSpec, method: str, make: Callable[[], object]) -> JointKind | None:
    try:
        other = make()
    except Exception as error:  # a user's own method may raise anything
        _refuse(spec, method, f"raised {type(error).__name__}: {error!s:.200}")
    if other is not None and not isinstance(other, JointKind):
        _refuse(spec, method, f"must return a kind of joint, or None if there is none, not {other!r:.60}")
    return other


class _Check:
    """Checks a kind that is the image of another: first by itself, then against the other."""

    def __init__(self, spec: JointSpec, other: JointKind, method: str, what: str) -> None:
        self._spec, self._kind, self._other, self._method = spec, spec.kind, other, method
        self._wrong = f"gave a {type(other).__name__} that is not {what}"
        check_counts(other, spec.name, spec.where)
        for name in ("nq", "nv", "is_flat"):
            ours, given = getattr(self._kind, name), getattr(other, name)
            if ours != given:
                self._fail(f"{name} = {given!r:.40}, where the kind itself has {ours!r}")
        check_kinds([replace(spec, kind=other)])

    def placements(
        self,
        configuration: Callable[[Sequence[float]], Sequence[float]],
        change: Callable[[Transform], Transform],
    ) -> None:
        """Compare the placements at a generic configuration."""
        infinite = (math.inf,) * self._kind.nq
        q = self._kind.random(np.random.default_rng(0), [-x for x in infinite], infinite)
        there = self._try(lambda: self._placement(self._other, configuration(q)))
        if not is_same(there, change(self._placement(self._kind, q))):
            shown = ", ".join(f"{x:.4g}" for x in q)
            self._fail(f"at q = ({shown}) its placement X_J is another")

    def reaches_inverse(self) -> None:
        """Look for coordinates of the other kind at which its placement is the inverse of the original's.

        Its coordinates may be arbitrary, so they are found by Newton's method, starting from its neutral configuration.
        """
        kind, other = self._kind, self._other
        v = np.random.default_rng(0).uniform(0.3, 1.0, kind.nv) * _NEAR
        target = self._placement(kind, kind.integrate(kind.neutral(), v.tolist())).inverse

        def search() -> bool:
            q: Sequence[Any] = other.neutral()
            for _ in range(_STEPS):
                motion = other.calc([float(x) for x in q], (0.0,) * other.nv)
                X = motion.X_J.plain()
                if is_same(X, target):
                    return True
                S = np.array(
                    [(*column.angular.components(), *column.linear.components()) for column in motion.S.columns],
                    dtype=np.float64,
                ).T
                step, *_ = np.linalg.lstsq(S, _motion_between(X, target), rcond=None)
                q = other.integrate(q, step.tolist())
            return False

        if not self._try(search):
            self._fail("no coordinates of it were found that give the inverse of a placement of the joint")

    def _placement(self, kind: JointKind, q: Sequence[Any]) -> Transform:
        return kind.calc([float(x) for x in q], (0.0,) * kind.nv).X_J.plain()

    def _try(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except Exception as error:  # the kind that it returned may raise anything, too
            _refuse(self._spec, self._method, f"{self._wrong}: it raised {type(error).__name__}: {error!s:.200}")

    def _fail(self, sentence: str) -> NoReturn:
        _refuse(self._spec, self._method, f"{self._wrong}: {sentence}")


def _refuse(spec: JointSpec, method: str, sentence: str) -> NoReturn:
    name = f"{type(spec.kind).__name__}.{method}"
    raise ModelError(at(spec.where, f"joint {spec.name!r} ({spec.kind.description}): {name} {sentence}")) from None


def _twelve(X: Transform) -> NDArray[np.float64]:
    return np.array([*X.E.components(), *X.r.components()], dtype=np.float64)


def _distance(X: Transform, Y: Transform) -> float:
    return float(np.abs(_twelve(X) - _twelve(Y)).max())


def _motion_between(X: Transform, Y: Transform) -> NDArray[np.float64]:
    """The small motion from X to Y, in the moving side's coordinates at X, [ω; v]; exact to first order."""
    E, F = (_twelve(Z)[:9].reshape(3, 3) for Z in (X, Y))
    turn = F @ E.T  # 1 - [ω]x to first order
    angular = [turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0]]
    return np.array([*(0.5 * x for x in angular), *(E @ (_twelve(Y) - _twelve(X))[9:])], dtype=np.float64)


def with_elastic_joint(model: Robot, name: str, stiffness: float, damping: float, rotor_inertia: float) -> Changed:
    """See `Model.with_elastic_joint`."""
    if not isinstance(name, str) or name not in model.joints:
        near = nearest_names(str(name), model.joints)
        raise NameNotFoundError(f"{model.name!r} has no moving joint {quoted(name)}: {near}")
    joint = model.joints[name]
    if joint.kind.nv != 1 or name in base_joint(model):
        raise ModelError(
            f"with_elastic_joint: {name!r} is {joint.kind.description}; it must have one degree of freedom"
        )
    if joint.mimic is not None or joint.coupling is not None:
        raise ModelError(f"with_elastic_joint: {name!r} has no coordinate of its own; make its motor's joint elastic")
    if any(joint.stiffness):
        raise ModelError(f"with_elastic_joint: {name!r} has a spring of its own, from the body before it to the link")
    stiffness = number_between("with_elastic_joint: stiffness", stiffness)
    rotor_inertia = number_between("with_elastic_joint: rotor_inertia", rotor_inertia)
    lost = real_number(damping)
    if lost is None or not 0.0 <= lost < float("inf"):
        raise OptionError(f"with_elastic_joint: damping must be zero or a positive number, not {damping!r:.60}")
    parts = model.parts
    spec = next(spec for spec in parts.joints if spec.name == name)
    rotor = unused(f"{name}_rotor", frame_names(parts))
    spring = unused(f"{name}_spring", joint_names(model))
    motor = replace(spec, child=rotor, armature=(rotor_inertia,), rotor=None)
    joints = tuple(motor if one is spec else one for one in parts.joints)
    builder = opened(
        replace(parts, joints=joints),
        f"joint {name!r} is elastic: {stiffness:g} from its motor, of inertia {rotor_inertia:g}, to {spec.child!r}, "
        f"by joint {spring!r}",
    )
    builder.add_body(rotor)
    kind = Revolute(spec.kind.axis) if isinstance(spec.kind, Continuous) else spec.kind
    builder.add_joint(
        spring, kind, rotor, spec.child, Transform.identity(), stiffness=[stiffness], damping=[lost], actuated=False
    )
    return closed(builder, floating_base=model.floating_base)
