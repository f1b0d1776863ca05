"""What the tests of kinds with q̇ = v share: derivatives by complex steps, and a robot around a joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Motion, Sym3, Vec3

__all__ = ["Array", "check_motion", "homogeneous", "six", "with_joint"]

Array = NDArray[Any]

_STEP = 1e-30
_BODY = Inertia.from_com(2.0, Vec3(0.1, 0.2, -0.3), Sym3(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))


def check_motion(kind: JointKind, q: Sequence[float], v: Sequence[float], tolerance: float = 1e-12) -> None:
    """S v is the velocity of the placement, v_J is S v, and c_J is the derivative of S v at constant v."""
    motion = kind.calc([np.array([x + 1j * _STEP * r]) for x, r in zip(q, v, strict=True)], [np.array([r]) for r in v])
    E, r = _numbers(motion.X_J.E.components()).reshape(3, 3), _numbers(motion.X_J.r.components())
    E_dot, r_dot = E.imag / _STEP, r.imag / _STEP
    E = E.real
    np.testing.assert_allclose(E @ E.T, np.eye(3), atol=tolerance)
    spin = -E_dot @ E.T
    velocity = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *(E @ r_dot)])
    S_v = six(motion.S @ [np.array([x]) for x in v])
    scale = max(1.0, float(np.abs(v).max())) ** 2
    np.testing.assert_allclose(S_v.real, velocity, atol=tolerance * scale)
    np.testing.assert_allclose(six(motion.v_J), S_v, atol=tolerance * scale)
    np.testing.assert_allclose(six(motion.c_J).real, S_v.imag / _STEP, atol=tolerance * scale)


def six(motion: Motion) -> Array:
    """[ω; v]."""
    return _numbers((*motion.angular.components(), *motion.linear.components()))


def homogeneous(kind: JointKind, q: Sequence[float]) -> Array:
    """The moving side's placement, (4, 4)."""
    return np.array(kind.calc(list(q), [0.0] * kind.nv).X_J.homogeneous(), dtype=float).reshape(4, 4)


def with_joint(kind: JointKind, *after: JointKind, armature: float = 0.0, tail: bool = True) -> kt.Model:
    """A swinging link, the joint (or several in a row without bodies between), a body on it, and a swinging tip."""
    builder = kt.ModelBuilder("robot")
    builder.add_body("base")
    builder.add_body("link", _BODY)
    builder.add_joint("hinge", kt.Revolute([1.0, 2.0, 2.0]), "base", "link", kt.lie.placement((0.1, 0.0, 0.4)))
    kinds = [kind, *after]
    for k, each in enumerate(kinds):
        parent, child = "link" if k == 0 else f"part{k}", "body" if k == len(kinds) - 1 else f"part{k + 1}"
        builder.add_body(child, _BODY if child == "body" else None)
        placement = kt.lie.placement((0.3, -0.2, 0.5), rpy=(0.3, -0.2, 0.9)) if k == 0 else None
        builder.add_joint(f"joint{k}", each, parent, child, placement, armature=(armature,) * each.nv)
    if tail:
        builder.add_body("tip", _BODY)
        builder.add_joint("tail", kt.Revolute([2.0, 1.0, -2.0]), "body", "tip", kt.lie.placement((0.0, 0.3, 0.2)))
    return builder.build()


def _numbers(components: Sequence[Any]) -> Array:
    return np.array([x.item() if isinstance(x, np.ndarray) else x for x in components])
