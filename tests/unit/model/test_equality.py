"""Robots are equal if they are made of the same parts; they are keys, and come through pickles and copies."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.compiler.forms.aligned import aligned
from kinetree.compiler.forms.parameters import parameter_ports, with_parameters
from kinetree.expr import Scalar, Symbol, cos, sin, trace
from kinetree.joints import JointKind, JointMotion
from kinetree.model import Geometry, Rotor
from kinetree.model.builder import ModelBuilder
from kinetree.model.by_identity import ByIdentity
from kinetree.model.fingerprint import fingerprint
from kinetree.model.specs import Parts
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from tests.robots import load_robot
from tests.strategies import law, trees

BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3.scalar(0.1))
ALL_THERE = kt.model.Limits((-1.0,), (1.0,), (2.0,), (3.0,))


class Turning(JointKind):
    """A user's kind."""

    nq = nv = 1

    def __init__(self, gain: float) -> None:
        self.gain = gain

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        s, c = sin(q[0] * self.gain), cos(q[0] * self.gain)
        S = Subspace((Motion(Vec3(0.0, 0.0, self.gain), Vec3.zero()),))
        E = Mat3(Vec3(c, s, 0.0), Vec3(-s, c, 0.0), Vec3(0.0, 0.0, 1.0))
        return JointMotion(Transform(E, Vec3.zero()), S, S @ v, Motion.zero())


def robot(
    *,
    name: str = "robot",
    kind: JointKind | None = None,
    body: Inertia = BODY,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    frame: float = 0.5,
    note: str = "",
    where: str = "",
    source: str = "",
    mesh_path: Path | None = None,
    color: float = 0.5,
    **options: Any,
) -> kt.Model:
    builder = kt.ModelBuilder(name, gravity=gravity, source=source)
    builder.note(note)
    shape = Geometry("visual", "mesh", (1.0, 1.0, 1.0), Transform.identity(), "", "a.stl", mesh_path, (color,) * 4)
    builder.add_body("base", body, geometry=[shape], where=where)
    for name in ("a", "b"):
        builder.add_body(name, BODY, where=where)
        options.setdefault("limits", ALL_THERE)
        builder.add_joint(f"to {name}", kind or kt.Revolute([0, 0, 1]), "base", name, where=where, **options)
    builder.add_frame("tool", "a", Transform(Mat3.identity(), Vec3(frame, 0.0, 0.0)), where=where)
    return builder.build()


def test_robots_of_the_same_parts_are_equal_whatever_is_said_of_them() -> None:
    one = robot()
    for other in (
        robot(),
        robot(note="assumed"),
        robot(where="file:3", source="file"),
        robot(mesh_path=Path("/tmp/a.stl")),
        robot(body=Inertia(1.0, BODY.h, replace(BODY.I, xy=BODY.I.xy + 0.0))),
    ):
        assert one == other
        assert (one != other) is False
        assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "other",
    [
        lambda: robot(name="other"),
        lambda: robot(kind=kt.Revolute([0, 1, 0])),
        lambda: robot(kind=kt.joints.Continuous([0, 0, 1])),
        lambda: robot(body=replace(BODY, mass=1.0000000000000002)),
        lambda: robot(gravity=(0.0, 0.0, -1.62)),
        lambda: robot(frame=0.25),
        lambda: robot(color=0.25),
        lambda: robot(damping=[0.1]),
        lambda: robot(friction=[0.1]),
        lambda: robot(friction_speed=[0.1]),
        lambda: robot(stiffness=[0.1]),
        lambda: robot(rest=[0.1]),
        lambda: robot(armature=[0.1]),
        lambda: robot(rotor=Rotor(0.1, 3.0)),
        lambda: robot(limits=replace(ALL_THERE, effort=(4.0,))),
        lambda: robot(placement=Transform(Mat3.identity(), Vec3(0.0, 0.0, 0.1))),
        lambda: ModelBuilder.of(robot()).build(floating_base=True),
        lambda: reordered(),
        lambda: coupled([[1.0], [2.0]]),
    ],
)
def test_robots_that_differ_in_one_part_are_not(other: Callable[[], kt.Model]) -> None:
    assert robot() != other()
    assert len({robot(), other(), robot()}) == 2


def reordered() -> kt.Model:
    """The same joints, which stand in q in another order."""
    parts = robot().parts
    return of_parts(replace(parts, joints=parts.joints[::-1]))


def coupled(matrix: list[list[float]]) -> kt.Model:
    builder = ModelBuilder.of(robot())
    builder.add_coupling("both", ["to a", "to b"], matrix, coordinates=["z"])
    return builder.build()


def of_parts(parts: Parts) -> kt.Model:
    return ModelBuilder.of(parts).build()


def test_couplings_are_compared() -> None:
    assert coupled([[1.0], [2.0]]) == coupled([[1.0], [2.0]])
    assert coupled([[1.0], [2.0]]) != coupled([[1.0], [3.0]])


def test_a_robot_equals_nothing_else() -> None:
    assert robot() != "robot"
    assert robot() is not None
    assert (robot() == 3) is False


def test_kinds_of_users_compare_by_what_they_hold() -> None:
    assert robot(kind=Turning(2.0)) == robot(kind=Turning(2.0))
    assert robot(kind=Turning(2.0)) != robot(kind=Turning(3.0))


@law(25)
@given(trees())
def test_a_robot_equals_that_of_its_parts_and_its_pickle(model: kt.Model) -> None:
    for other in (of_parts(model.parts), pickle.loads(pickle.dumps(model))):
        assert other == model
        assert hash(other) == hash(model)
        assert fingerprint(other) == fingerprint(model)


# -- the same parts, but other numbers


def test_other_parameters_and_other_axes_make_another_robot() -> None:
    model = kt.zoo.load("arm6")
    moon = with_parameters(model, ["gravity"], [(0.0, 0.0, -1.62)])
    assert moon.parts is model.parts
    assert moon != model
    assert moon == with_parameters(model, ["gravity"], [(0.0, 0.0, -1.62)])
    assert fingerprint(moon) != fingerprint(model)
    assert aligned(model) != model


def test_symbols_in_a_model_are_compared_by_which_they_are() -> None:
    model = kt.zoo.load("double_pendulum")
    names = ["gravity"]
    made: list[kt.Model] = []

    def one_sample(gravity: Sequence[Symbol]) -> list[list[Scalar]]:
        made.extend(with_parameters(model, names, [gravity]) for _ in range(2))
        return [[gravity[0]]]

    ports = parameter_ports(model, names)
    trace(one_sample, ports, [replace(ports[0], name="x", shape=(1,))], "trial")
    assert made[0] == made[1]
    assert made[0] != model
    assert hash(made[0]) == hash(model)  # of the parts, in which no symbol is


# -- what is kept by identity


def test_equal_robots_that_differ_in_the_sign_of_a_zero_have_fingerprints_of_their_own() -> None:
    plus = robot(gravity=(0.0, 0.0, -9.81))
    minus = robot(gravity=(-0.0, 0.0, -9.81))
    assert plus == minus
    assert hash(plus) == hash(minus)
    assert fingerprint(plus) != fingerprint(minus)
    assert fingerprint(plus) == fingerprint(robot())


def test_equal_robots_have_functions_of_their_own() -> None:
    one, other = robot(), robot()
    assert kt.compile(one, kt.aba) is kt.compile(one, kt.aba)
    assert kt.compile(one, kt.aba) is not kt.compile(other, kt.aba)


def test_what_is_known_by_identity_is_forgotten_with_the_robot() -> None:
    known: ByIdentity[int] = ByIdentity()
    one, other = robot(), robot()
    known[one] = 1
    known[one] = 2
    assert one in known
    assert other not in known
    assert known[one] == 2
    del one
    assert len(known) == 0


# -- pickles and copies


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_same_robot_to_the_last_bit(protocol: int) -> None:
    model = robot(gravity=(-0.0, 0.0, -9.81), note="a note", source="file")
    again = pickle.loads(pickle.dumps(model, protocol))
    assert again == model
    assert again is not model
    assert fingerprint(again) == fingerprint(model)
    assert (again.notes, again.source, again.parts.notes) == (model.notes, model.source, model.parts.notes)
    assert repr(again) == repr(model)
    q = model.random(0)
    assert np.array_equal(kt.crba(again, q), kt.crba(model, q))


@pytest.mark.parametrize("name", kt.zoo.names())
def test_a_robot_of_the_zoo_comes_through_a_pickle(name: str) -> None:
    model = kt.zoo.load(name)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert fingerprint(again) == fingerprint(model)


def test_a_pickle_of_a_robot_from_a_file_is_small_and_does_not_hold_the_file() -> None:
    model = load_robot("talos_full_v2", floating_base=True)
    data = pickle.dumps(model)
    again = pickle.loads(data)
    assert len(data) < 150_000
    assert again == model
    assert fingerprint(again) == fingerprint(model)
    assert [str(a.where) for a in again.parts.joints] == [str(b.where) for b in model.parts.joints]


def test_a_users_kind_comes_through_a_pickle() -> None:
    model = robot(kind=Turning(2.0))
    assert pickle.loads(pickle.dumps(model)) == model


def test_other_numbers_than_those_of_the_parts_come_through_a_pickle() -> None:
    moon = with_parameters(robot(), ["gravity"], [(0.0, 0.0, -1.62)])
    assert pickle.loads(pickle.dumps(moon)) == moon
    assert pickle.loads(pickle.dumps(moon)).gravity == (0.0, 0.0, -1.62)


def test_a_copy_is_the_robot_itself_because_it_never_changes() -> None:
    model = robot()
    assert copy.copy(model) is model
    assert copy.copy([model])[0] is model


def test_a_deep_copy_is_an_equal_robot_of_its_own() -> None:
    model = robot()
    twin = copy.deepcopy([model])[0]
    assert twin is not model
    assert twin == model
    assert fingerprint(twin) == fingerprint(model)


def test_another_process_gets_the_same_robot() -> None:
    model = kt.zoo.load("arm6")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again, mark = pool.apply(fingerprint_and_self, (model,))
    assert again == model
    assert mark == fingerprint(model)


def fingerprint_and_self(model: kt.Model) -> tuple[kt.Model, bytes | None]:
    return model, fingerprint(model)


def test_the_hash_is_computed_once() -> None:
    model = robot()
    assert not hasattr(model, "_hash")
    first = hash(model)
    object.__setattr__(model, "_hash", first + 1)
    assert hash(model) == first + 1
