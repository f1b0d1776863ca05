"""Joints written by users: a class with `calc`, in every function at once; and what is wrong with one, by name."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import cos, sin
from kinetree.joints import JointKind, JointMotion
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from tests.kernels import compiled_late

BALL = Inertia.from_com(1.5, Vec3(0.1, -0.2, 0.3), Sym3(0.02, 0.03, 0.025, 0.001, -0.002, 0.003))
UP = Vec3(0.0, 0.0, 1.0)


class Hinge(JointKind):
    """About z, as short as can be."""

    nq = nv = 1

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> JointMotion:
        s, c = sin(q[0]), cos(q[0])
        X_J = Transform(Mat3(Vec3(c, s, 0.0), Vec3(-s, c, 0.0), UP), Vec3.zero())
        S = Subspace((Motion(UP, Vec3.zero()),))
        return JointMotion(X_J, S, S @ v, Motion.zero())


class Cam(Hinge):
    """Rises as it turns: by `rise` times the sine of the angle."""

    def __init__(self, rise: float) -> None:
        self.rise = rise

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> JointMotion:
        turn = super().calc(q, v).X_J
        S = Subspace((Motion(UP, UP * (self.rise * cos(q[0]))),))
        c_J = Motion(Vec3.zero(), UP * (-self.rise * sin(q[0]) * v[0] * v[0]))
        return JointMotion(Transform(turn.E, UP * (self.rise * sin(q[0]))), S, S @ v, c_J)


def arm(*kinds: JointKind) -> kt.Model:
    builder = kt.ModelBuilder("arm")
    builder.add_body("b0")
    for k, kind in enumerate(kinds, 1):
        builder.add_body(f"b{k}", BALL)
        turn = Mat3(Vec3(0.0, 0.0, -1.0), Vec3(0.0, 1.0, 0.0), Vec3(1.0, 0.0, 0.0))
        builder.add_joint(f"j{k}", kind, f"b{k - 1}", f"b{k}", Transform(turn, Vec3(0.1, 0.2, 0.3)))
    return builder.build()


FUNCTIONS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (kt.aba, {}),
    (kt.rnea, {}),
    (kt.crba, {}),
    (kt.frame_placement, {"frame": "b3"}),
    (kt.kinematics.frame_velocity, {"frame": "b3", "expressed_in": "local"}),
    (kt.kinematics.frame_acceleration, {"frame": "b3", "expressed_in": "world"}),
    (kt.frame_jacobian, {"frame": "b3", "expressed_in": "world"}),
    (kt.kinetic_energy, {}),
    (kt.potential_energy, {}),
    (kt.integrate, {}),
    (kt.difference, {}),
]


def arrays_of(robot: kt.Model, function: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [
        np.stack([robot.random(rng) for _ in range(4)]) if size == "nq" else rng.normal(size=(4, robot.nv))
        for _, size in function.definition.inputs
    ]


@pytest.mark.parametrize(("function", "options"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_hinge_of_the_users_own_is_the_built_in_one(function: Any, options: dict[str, Any], dtype: Any) -> None:
    Z = kt.Revolute([0, 0, 1])
    own, ours = arm(Hinge(), Z, Hinge()), arm(Z, Z, Z)
    arrays = [x.astype(dtype) for x in arrays_of(ours, function)]
    expected = function(ours, *arrays, **options)
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(function(own, *arrays, **options), expected, atol=tolerance, rtol=tolerance)
    if dtype is np.float64:
        rolled = compiled_late(own, function, unroll=False, **options)(*arrays)
        np.testing.assert_allclose(rolled, expected, atol=1e-12, rtol=1e-12)


def test_a_cam_obeys_the_laws() -> None:
    robot = arm(Cam(0.3), Hinge(), Cam(-0.1))
    rng = np.random.default_rng(0)
    q, v, qdd = robot.random(rng), *rng.normal(size=(2, 3))
    np.testing.assert_allclose(kt.aba(robot, q, v, kt.rnea(robot, q, v, qdd)), qdd, atol=1e-11)
    h = 1e-6
    J = kt.frame_jacobian(robot, q, "b3", expressed_in="local_world_aligned")
    after, before = (kt.frame_placement(robot, q + s * v, "b3")[:3, 3] for s in (h, -h))
    np.testing.assert_allclose((J @ v)[:3], (after - before) / (2 * h), atol=1e-8)
    energy = [kt.kinetic_energy(robot, q + s * v, v + s * qdd) for s in (h, -h)]
    energy = [e + kt.potential_energy(robot, q + s * v) for e, s in zip(energy, (h, -h), strict=True)]
    power = kt.rnea(robot, q, v, qdd) @ v
    assert (energy[0] - energy[1]) / (2 * h) == pytest.approx(power, abs=1e-6)
    motion = kt.simulate(robot, q=[0.5, 0.2, 0.1], duration=0.5, dt=5e-4)
    assert abs(motion.balance_error).max() < 1e-8


def test_kinds_are_what_they_hold() -> None:
    assert Cam(0.1) == Cam(0.1) != Cam(0.2)
    assert hash(Cam(0.1)) == hash(Cam(0.1))
    assert Hinge() != kt.Revolute([0, 0, 1])
    assert repr(Cam(0.1)) == "Cam(rise=0.1)"
    assert Cam(0.1).description == "Cam"
    assert arm(Cam(0.1)).q_names == ["j1"]


class Wrong(Hinge):
    """Each test spoils something."""

    def __init__(self, change: Callable[[Any, Any, JointMotion], Any]) -> None:
        self.change = change

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
        return self.change(q, v, super().calc(q, v))


def _raises(message: str) -> JointMotion:
    raise ValueError(message)


def _bias(x: Any) -> Motion:
    return Motion(UP * x, Vec3.zero())


def _sideways(v: Any) -> dict[str, Any]:
    S = Subspace((Motion(Vec3(1.0, 0.0, 0.0), Vec3.zero()),))
    return {"S": S, "v_J": S @ v}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda *_: None, "Wrong.calc must return a JointMotion (X_J, S, v_J, c_J), not a NoneType"),
        (lambda _q, _v, m: m._replace(X_J=np.eye(4)), "Wrong.calc must return a Transform as X_J, not a ndarray"),
        (lambda _q, _v, m: m._replace(S=m.S.columns), "Wrong.calc must return a Subspace as S, not a tuple"),
        (lambda _q, _v, m: m._replace(S=Subspace(m.S.columns * 2)), "a motion subspace of 2 columns, but nv = 1"),
        (lambda _q, _v, m: m._replace(v_J=m.v_J * 2.0), "the v_J of Wrong.calc is not S v"),
        (lambda _q, v, m: m._replace(**_sideways(v)), "does not lead where the placement X_J goes"),
        (lambda _q, v, m: m._replace(c_J=_bias(v[0] * v[0])), "the c_J of Wrong.calc is not the derivative of S v"),
        (lambda _q, _v, m: m._replace(c_J=_bias(math.inf)), "returned a number that is not finite"),
        (lambda *_: _raises("out of range"), "Wrong.calc raised ValueError: out of range"),
        (lambda q, _v, m: m if q[0] > 0.0 else None, "Wrong.calc does not work on symbols"),
        (lambda q, _v, m: m._replace(c_J=m.c_J * math.sin(q[0])), "Wrong.calc does not work on symbols"),
    ],
)
def test_a_wrong_calc_is_refused_by_the_joints_name(change: Any, message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as caught:
        arm(kt.Revolute([0, 0, 1]), Wrong(change))
    assert str(caught.value).startswith("joint 'j2': ")
    assert message in str(caught.value)


class Twice(Hinge):
    """Two columns that are one motion."""

    nq = nv = 2

    def calc(self, q: Sequence[Any], v: Sequence[Any]) -> JointMotion:
        X_J = super().calc([q[0] + q[1]], [v[0] + v[1]]).X_J
        S = Subspace((Motion(UP, Vec3.zero()),) * 2)
        return JointMotion(X_J, S, S @ v, Motion.zero())


class Uneven(Hinge):
    nq = 2


class Countless(Hinge):
    nv = 1.5  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Twice(), "the 2 columns of its motion subspace are dependent"),
        (Uneven(), "nq = 2 and nv = 1; a kind with is_flat = True has v as the rates of q"),
        (Countless(), "its nv must be a whole number from 0 to 6, not 1.5"),
    ],
)
def test_a_wrong_kind_is_refused_by_the_joints_name(kind: JointKind, message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as caught:
        arm(kind)
    assert str(caught.value).startswith("joint 'j1': ")
    assert message in str(caught.value)


class Tabled(Hinge):
    """Holds an array."""

    def __init__(self, values: Sequence[float]) -> None:
        self.table = np.array(values)


def test_kinds_that_hold_arrays_are_compared_by_them() -> None:
    assert Tabled([1.0, 2.0]) == Tabled([1.0, 2.0]) != Tabled([1.0, 3.0])
    assert arm(Tabled([1.0])) == arm(Tabled([1.0])) != arm(Tabled([2.0]))
    assert len({arm(Tabled([1.0])), arm(Tabled([1.0]))}) == 1


def test_a_kind_does_not_change_once_a_robot_has_it() -> None:
    kind, axis = Cam(0.1), kt.Revolute([0, 0, 1])
    kind.rise = 0.2
    robot = arm(kind, kt.joints.Composite([axis, kt.Prismatic([1, 0, 0])]))
    with pytest.raises(AttributeError, match="make another with a different 'rise'"):
        kind.rise = 0.3
    with pytest.raises(AttributeError, match="make another with a different 'axis'"):
        axis.axis = UP
    assert robot.joints["j1"].kind == Cam(0.2)
    for twin in (copy.copy(axis), copy.deepcopy(axis), pickle.loads(pickle.dumps(axis))):
        assert twin == axis
        with pytest.raises(AttributeError):
            twin.axis = UP
