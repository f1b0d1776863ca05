"""Derivatives of steps on the configuration manifold, from displacements to displacements.

A displacement of a configuration stands at its end: q displaced by δ is integrate(q, δ). Where `integrate` is given
complex numbers q + i h δ, what it returns is displaced by h times its derivative, and that displacement is read off
without a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.specialization import Specialization
from kinetree.expr import interpret
from kinetree.joints import JointKind
from tests.laws.reference import close, compiled, coordinate_rates, directional, reference, tried_on_both
from tests.laws.test_sharing import Case, cases
from tests.strategies import State, law, moving_trees, numbers
from tests.unit.model.bodies import ball, chain

Array = NDArray[Any]
Call = Callable[..., Any]

KINDS: list[JointKind] = [kt.Free(), kt.joints.Spherical(), kt.joints.FloatingBase(), kt.Revolute([0, 0, 1])]


@cache
def robot_of(*kinds: int) -> kt.Model:
    return chain([(KINDS[k], ball()) for k in kinds])


@st.composite
def manifolds(draw: st.DrawFn) -> tuple[kt.Model, Array, Array]:
    """A chain of such joints, a configuration, and a velocity: zero, small, or up to a turn and more."""
    robot = robot_of(*draw(st.sampled_from([(0,), (1,), (2,), (3, 0, 1), (1, 2, 3)])))
    size = draw(st.sampled_from([0.0, 1e-20, 1e-9, 1e-3, 0.3, 1.0, 1.0]))
    v = size * np.array(draw(st.lists(numbers(4.0), min_size=robot.nv, max_size=robot.nv)))
    return robot, robot.random(draw(st.integers(0, 1000))), v


def conjugate_product(p: Array, q: Array) -> Array:
    """The vector of p* q, for quaternions x, y, z, w; p is of length one."""
    return p[3] * q[:3] - q[3] * p[:3] - np.cross(p[:3], q[:3])


def displacement(robot: kt.Model, q: Array, displaced: Array) -> Array:
    """The first-order displacement from q to a q + dq on the manifold, linear in dq."""
    pieces = []
    for joint in robot.joints.values():
        own, other = q[joint.q_slice], displaced[joint.q_slice]
        if joint.kind.nq == joint.kind.nv:
            pieces.append(other)
            continue
        turn = 2.0 * conjugate_product(own[-4:], other[-4:])
        if isinstance(joint.kind, kt.Free):
            placement = joint.kind.calc(own.tolist(), [0.0] * 6).X_J
            E = np.array(placement.E.components(), dtype=np.float64).reshape(3, 3)
            pieces += [E @ other[:3], turn]
        else:
            pieces += [other[:-4], turn]
    return np.concatenate(pieces)


@tried_on_both(st.data(), floats=40, kernels=15)
def test_a_step_is_displaced_as_its_derivatives_say(call: Call, data: st.DataObject) -> None:
    """A change of q's numbers along q̇ is a displacement; in v it is a change of v."""
    robot, q, v = data.draw(manifolds())
    d = np.array(data.draw(st.lists(numbers(1.0), min_size=robot.nv, max_size=robot.nv)))
    there = reference(kt.integrate, robot, q, v)
    by_q = directional(lambda x: reference(kt.integrate, robot, x, v), (q, coordinate_rates(robot, q, d)))
    by_v = directional(lambda x: reference(kt.integrate, robot, q, x), (v, d))
    scale = 1.0 + float(np.abs(v).max())
    A, B = (call(kt.kinematics.integrate_jacobian, robot, q, v, wrt=name) for name in ("q", "v"))
    close(A @ d, displacement(robot, there, by_q), scale, tolerance=1e-13)
    close(B @ d, displacement(robot, there, by_v), scale, tolerance=1e-13)


@tried_on_both(st.data(), floats=40, kernels=15)
def test_the_derivatives_of_a_difference_undo_those_of_a_step(call: Call, data: st.DataObject) -> None:
    """integrate(q0, difference(q0, q1)) = q1, whatever q0 and q1: A + B D₀ = 0 and B D₁ = 1."""
    robot, q0, v = data.draw(manifolds())
    q1 = call(kt.integrate, robot, q0, v) if data.draw(st.booleans()) else robot.random(data.draw(st.integers(0, 99)))
    w = call(kt.difference, robot, q0, q1)
    A, B = (call(kt.kinematics.integrate_jacobian, robot, q0, w, wrt=name) for name in ("q", "v"))
    D0, D1 = (call(kt.kinematics.difference_jacobian, robot, q0, q1, wrt=name) for name in ("q0", "q1"))
    scale = 10.0 * (1.0 + float(np.abs(w).max()))
    close(B @ D1, np.eye(robot.nv), scale, tolerance=1e-13)
    close(B @ D0, -A, scale, tolerance=1e-13)


@law()
@given(st.data())
def test_two_ways_from_one_place_to_another_differ_by_sign(data: st.DataObject) -> None:
    """difference(q1, q0) = -difference(q0, q1), and so do their derivatives."""
    robot, q0, v = data.draw(manifolds())
    q1 = reference(kt.integrate, robot, q0, 0.7 * v / max(1.0, float(np.abs(v).max())))
    D0, D1 = (reference(kt.kinematics.difference_jacobian, robot, q0, q1, wrt=name) for name in ("q0", "q1"))
    back0, back1 = (reference(kt.kinematics.difference_jacobian, robot, q1, q0, wrt=name) for name in ("q0", "q1"))
    close(back1, -D0, 10.0, tolerance=1e-13)
    close(back0, -D1, 10.0, tolerance=1e-13)


@law()
@given(st.data())
def test_coordinate_rates_are_the_slope_of_a_step(data: st.DataObject) -> None:
    """At v = 0 in the direction of v; compiled and on floats."""
    robot, q, v = data.draw(manifolds())
    slope = directional(lambda x: reference(kt.integrate, robot, q, x), (np.zeros(robot.nv), v))
    close(reference(kt.kinematics.coordinate_rates, robot, q, v), slope, tolerance=1e-14)
    close(kt.kinematics.coordinate_rates(robot, q, v), slope, tolerance=1e-14)


# -- for joints of every kind


def slope(function: Callable[[float], Array]) -> Array:
    """The derivative at zero by differences of order four; what they leave out and their rounding are about 1e-12."""
    h = 1e-3
    return (8.0 * (function(h) - function(-h)) - (function(2.0 * h) - function(-2.0 * h))) / (12.0 * h)


@law(30)
@given(moving_trees(max_joints=4), st.sampled_from([0.0, 0.1, 0.5]))
def test_every_kind_of_joint_knows_the_derivatives_of_its_steps(case: tuple[kt.Model, State], size: float) -> None:
    """By differences along a displacement of q, a change of v, and displacements of either end."""
    robot, s = case
    q, v, d = s.q, size * s.v, 0.1 * s.qdd
    there = reference(kt.integrate, robot, q, v)

    def displaced(x: Array, h: float) -> Array:
        return reference(kt.integrate, robot, x, h * d)

    def way(start: Array, end: Array) -> Array:
        return reference(kt.difference, robot, start, end)

    by_differences = {
        (kt.kinematics.integrate_jacobian, "q"): slope(
            lambda h: way(there, reference(kt.integrate, robot, displaced(q, h), v))
        ),
        (kt.kinematics.integrate_jacobian, "v"): slope(
            lambda h: way(there, reference(kt.integrate, robot, q, v + h * d))
        ),
        (kt.kinematics.difference_jacobian, "q0"): slope(lambda h: way(displaced(q, h), there)),
        (kt.kinematics.difference_jacobian, "q1"): slope(lambda h: way(q, displaced(there, h))),
    }
    scale = 1.0 + float(np.abs(q).max(initial=0.0)) + float(np.abs(v).max(initial=0.0))
    for (function, argument), expected in by_differences.items():
        second = v if function is kt.kinematics.integrate_jacobian else there
        close(reference(function, robot, q, second, wrt=argument) @ d, expected, scale, tolerance=1e-9)
    rates = slope(lambda h: displaced(q, h))
    close(reference(kt.kinematics.coordinate_rates, robot, q, d), rates, scale, tolerance=1e-9)


# -- against the power series


def _adjoint(x: list[Any]) -> Any:
    """Of a twist [v; w], linear first."""
    ad = mpmath.zeros(6)
    for block, (a, b, c) in (((0, 3), x[:3]), ((0, 0), x[3:]), ((3, 3), x[3:])):
        for i, j, entry in ((0, 1, -c), (0, 2, b), (1, 0, c), (1, 2, -a), (2, 0, -b), (2, 1, a)):
            ad[block[0] + i, block[1] + j] = entry
    return ad


def _right_jacobian(v: Array, sign: int = 1) -> Any:
    """Σ (-ad)ᵏ / (k + 1)!, with 40 digits."""
    ad = _adjoint([sign * mpmath.mpf(float(x)) for x in v])
    total, term = mpmath.eye(6), mpmath.eye(6)
    for k in range(1, 70):
        term = -term * ad / (k + 1)
        total += term
        if mpmath.norm(term, mpmath.inf) < 1e-40:
            break
    return total


def _floats(matrix: Any) -> Array:
    return np.array(matrix.tolist(), dtype=np.float64)


@pytest.mark.parametrize("turn", [0.0, 1e-20, 1e-9, 1e-4, 0.1, 0.4999, 0.5001, 1.0, 2.0, 3.0, 3.14159, 5.0, 6.2831])
def test_they_are_exact_to_rounding_from_no_turn_to_a_whole_one(turn: float) -> None:
    rng = np.random.default_rng(1)
    free, sphere, base = kt.Free(), kt.joints.Spherical(), kt.joints.FloatingBase()
    q = free.neutral()
    with mpmath.workdps(40):
        for _ in range(2):
            v = rng.normal(size=6)
            v[3:] *= turn / np.linalg.norm(v[3:])
            A, B = map(np.array, free.integrate_jacobians(q, v.tolist()))
            exact = _right_jacobian(v)
            np.testing.assert_allclose(B, _floats(exact), rtol=0.0, atol=2e-15)
            ad = _adjoint([mpmath.mpf(float(x)) for x in v])
            np.testing.assert_allclose(A, _floats(mpmath.expm(-ad)), rtol=0.0, atol=5e-15)
            for kind, start in ((sphere, 0), (base, 3)):
                own = kind.neutral(), v[-kind.nv :].tolist()
                for ours, whole in zip(kind.integrate_jacobians(*own), (A, B), strict=True):
                    np.testing.assert_allclose(np.array(ours)[start:, start:], whole[3:, 3:], rtol=0.0, atol=5e-16)
            if turn > 3.1416:
                continue
            q1 = free.integrate(q, v.tolist())
            w = np.array(free.difference(q, q1))
            D0, D1 = map(np.array, free.difference_jacobians(q, q1))
            np.testing.assert_allclose(D1, _floats(_right_jacobian(w) ** -1), rtol=0.0, atol=5e-15)
            np.testing.assert_allclose(D0, -_floats(_right_jacobian(w, -1) ** -1), rtol=0.0, atol=5e-15)


# -- shared coordinates, and loops over joints

FUNCTIONS: dict[Call, tuple[str | None, ...]] = {
    kt.kinematics.integrate_jacobian: ("q", "v"),
    kt.kinematics.difference_jacobian: ("q0", "q1"),
    kt.kinematics.coordinate_rates: (None,),
}


def rolled(function: Call, robot: kt.Model, *arguments: Array, wrt: str | None = None) -> Array:
    """By a program that loops over the joints."""
    definition = function.definition  # type: ignore[attr-defined]
    options = {name: check(robot, wrt) for name, check in definition.options.items()}
    program = Specialization(definition, robot, options, (), (), unroll=False).program()
    (found,) = interpret(program, *(x.tolist() for x in arguments))
    return np.array(found).reshape(program.outputs[0].shape)


@law(15)
@given(cases())
def test_joints_that_share_coordinates_move_as_the_robot_without_sharing(drawn: tuple[Case, State]) -> None:
    """Displacements G δ of all joints lead to displacements G δ': M G = G M'. Also in a program with loops."""
    case, s = drawn
    G, size = case.G, 1.0 + float(np.abs(s.q).max(initial=0.0)) + float(np.abs(s.v).max(initial=0.0))
    q, other, v = case.G_q @ s.q + case.b, case.G_q @ (s.q + 0.25) + case.b, G @ s.v
    for function, names in FUNCTIONS.items():
        is_difference = function is kt.kinematics.difference_jacobian
        ours, joints = (s.q, s.q + 0.25 if is_difference else s.v), (q, other if is_difference else v)
        for name in names:
            options = {} if name is None else {"wrt": name}
            found = reference(function, case.robot, *ours, **options)
            expected = reference(function, case.free, *joints, **options)
            if name is None:
                close(case.G_q @ found, expected, size)
            else:
                close(G @ found, expected @ G, size)
            close(rolled(function, case.robot, *ours, **options), found, size)


@pytest.mark.parametrize("call", [reference, compiled, rolled])
def test_shared_coordinates_are_plain_numbers_whatever_their_offsets(call: Call) -> None:
    """They change at their rates v, and a displacement is a change of them."""
    builder = kt.ModelBuilder("shared")
    builder.add_body("b0")
    for k in range(1, 5):
        builder.add_body(f"b{k}", ball(com=(0.1, 0.2, 0.3)))
        mimic = kt.model.Mimic("j1", 1.5, 0.75) if k == 2 else None
        builder.add_joint(f"j{k}", kt.Revolute([0, 0, 1]), f"b{k - 1}", f"b{k}", mimic=mimic)
    builder.add_coupling(
        name="pair", joints=["j3", "j4"], matrix=[[1, 1], [1, -1]], offset=[0.5, 0.25], coordinates=["a", "b"]
    )
    robot = builder.build()
    q, v = np.array([0.3, -0.4, 0.5]), np.array([1.0, 2.0, 3.0])
    for function, names in FUNCTIONS.items():
        for name in names:
            options = {} if name is None else {"wrt": name}
            found = call(function, robot, q, v, **options)
            expected = v if name is None else np.eye(3) * (-1.0 if name == "q0" else 1.0)
            close(found, expected, tolerance=1e-15)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_program_with_loops_gives_the_same(function: Call) -> None:
    robot = robot_of(3, 0, 1, 2, 3, 1)
    q, v = robot.random(0), np.random.default_rng(0).normal(size=robot.nv)
    second = robot.random(1) if function is kt.kinematics.difference_jacobian else v
    for name in FUNCTIONS[function]:
        options = {} if name is None else {"wrt": name}
        close(rolled(function, robot, q, second, **options), reference(function, robot, q, second, **options))


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (kt.kinematics.integrate_jacobian, "q0"),
        (kt.kinematics.difference_jacobian, "v"),
        (kt.kinematics.integrate_jacobian, 1),
    ],
)
def test_another_argument_is_refused_by_name(function: Call, wrong: Any) -> None:
    robot = robot_of(3)
    q = np.zeros(robot.nq)
    with pytest.raises(kt.errors.OptionError, match=rf"wrt must be '\w+' or '\w+', not {wrong!r}"):
        function(robot, q, q, wrt=wrong)


def test_a_batch_has_a_matrix_a_sample() -> None:
    robot = robot_of(1, 2, 3)
    rng = np.random.default_rng(0)
    q = np.stack([robot.random(rng) for _ in range(12)]).reshape(3, 4, robot.nq)
    v = rng.normal(size=(4, robot.nv))
    J = kt.kinematics.integrate_jacobian(robot, q, v, wrt="v")
    assert J.shape == (3, 4, robot.nv, robot.nv)
    close(J[2, 1], reference(kt.kinematics.integrate_jacobian, robot, q[2, 1], v[1], wrt="v"), tolerance=1e-14)
