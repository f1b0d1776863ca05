"""The order of each integrator on a tree with a free base and a spherical joint, and on a leg with each kind of
actuator; what the midpoint rule keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import integrators, stages

Array = np.ndarray[Any, Any]
Step = Callable[..., Any]


def ragdoll() -> kt.Model:
    """A free body with a limb on a ball joint and another one on a hinge."""
    builder = kt.ModelBuilder("ragdoll", gravity=(0.0, 0.0, 0.0))
    builder.add_body("world")
    for name in ("trunk", "arm", "leg"):
        builder.add_body(name, kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("base", kt.Free(), "world", "trunk")
    builder.add_joint("ball", kt.joints.Spherical(), "trunk", "arm", kt.lie.placement((0.1, 0.2, 0.3)))
    builder.add_joint("hinge", kt.Revolute([0, 1, 1]), "trunk", "leg", kt.lie.placement((-0.1, 0.0, 0.3)))
    return builder.build()


ROBOT = ragdoll()
METHODS: dict[str, Step] = {
    name: partial(algorithms.step, ROBOT.tree, method) for name, method in algorithms.INTEGRATORS.items()
}
METHODS["midpoint"] = partial(algorithms.midpoint_step, ROBOT.tree)
ORDERS = {
    "symplectic_euler": 1, "semi_implicit_euler": 1, "implicitfast": 1, "discrete": 1, "midpoint": 2, "rk4": 4,
}  # fmt: skip
LEG = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size=".04 .2" mass="2"/><body pos="0 0 .3"><joint name="knee" axis="0 1 0"/>
<geom type="capsule" size=".03 .2" pos="0 0 .2" mass="1"/></body></body></worldbody>
<actuator><general joint="knee" {}/></actuator></mujoco>"""
_MUSCLE = ".75 1.05 5 200 .5 1.6 1.5 1.3 1.2"
ACTUATORS = {
    "none": 'gainprm="3"',
    "integrator": 'gainprm="3" dyntype="integrator" actrange="-1 1"',
    "filter": 'gainprm="3" dyntype="filter" dynprm=".05"',
    "filterexact": 'gainprm="3" dyntype="filterexact" dynprm=".05"',
    "muscle": 'dyntype="muscle" gaintype="muscle" biastype="muscle" dynprm=".05 .08 0" lengthrange="-2 2" '
    f'gainprm="{_MUSCLE}" biasprm="{_MUSCLE}"',
}
EARLY = {f"{kind}, early": f'{ACTUATORS[kind]} actearly="true"' for kind in ("integrator", "filter", "filterexact")}


def moving() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return ROBOT.random(rng), rng.normal(size=ROBOT.nv)


def run(step: Step, steps: int) -> tuple[Array, Array]:
    """The state after a tenth of a second; the algorithm itself."""
    tree, (q, v) = ROBOT.tree, (list(x) for x in moving())
    loads = algorithms.Loads(tree.split([0.1] * ROBOT.nv, "forces"))
    for _ in range(steps):
        end = step(tree.split(q, "nq"), tree.split(v, "nv"), 0.1 / steps, loads)
        q, v = tree.joined(end.q, "nq"), tree.joined(end.v, "nv")
    return np.array(q), np.array(v)


def apart(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
    return float(np.linalg.norm([*ROBOT.difference(a[0], b[0]), *(a[1] - b[1])]))


@cache
def exact() -> tuple[Array, Array]:
    return run(METHODS["rk4"], 64)


@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_halving_the_step_shows_the_order(name: str, order: int) -> None:
    errors = [apart(run(METHODS[name], steps), exact()) for steps in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def driven(leg: kt.Model, name: str, steps: int) -> Array:
    """The state of the leg after a tenth of a second under a constant command."""
    more: dict[str, Any] = {"ctrl": np.full((steps, 1), 0.8), "passive": True, "integrator": name}
    if leg.extras.actuators[0].dynamics != "none":
        more["act"] = [0.2]
    return np.asarray(kt.rollout(leg, [0.3, 0.2], [0.5, -0.4], None, 0.1 / steps, **more)[-1])


@cache
def leg(kind: str) -> kt.Model:
    with TemporaryDirectory() as folder:
        path = Path(folder, "leg.xml")
        path.write_text(LEG.format({**ACTUATORS, **EARLY}[kind]))
        return kt.load(path)


@cache
def exactly_driven(kind: str) -> Array:
    return driven(leg(kind), "rk4", 1024)


@pytest.mark.parametrize("kind", [*ACTUATORS, *EARLY])
@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_every_integrator_keeps_its_order_with_actuators(name: str, order: int, kind: str) -> None:
    """Of order one, as in MuJoCo: forces of actuators that act early are those of one step later; and "rk4" takes the
    mean rate of its stages for the rate at the beginning, which an exact filter goes on from."""
    if kind in EARLY or (kind, name) == ("filterexact", "rk4"):
        order = 1
    same_limit = exactly_driven(kind.partition(",")[0].replace("filterexact", "filter"))
    errors = [float(np.linalg.norm(driven(leg(kind), name, steps) - same_limit)) for steps in (32, 64)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_the_midpoint_rule_keeps_activations_in_their_range() -> None:
    robot = leg("integrator")
    ctrl = np.full((6, 1), 0.8)
    act = kt.rollout(robot, [0.3, 0.2], [0.5, -0.4], None, 0.3, ctrl=ctrl, act=[0.2], integrator="midpoint")[:, 4]
    np.testing.assert_allclose(act, [0.44, 0.68, 0.92, 1.0, 1.0, 1.0], rtol=0, atol=4e-16)


def test_the_midpoint_rule_keeps_momentum_and_bounds_the_error_of_the_energy() -> None:
    q, v = moving()
    states = kt.rollout(ROBOT, q, v, np.zeros((20_000, ROBOT.nv)), 0.01, integrator="midpoint")
    q_k, v_k = np.split(states[99::100], [ROBOT.nq], axis=-1)
    momentum = kt.dynamics.momentum(ROBOT, q, v)
    np.testing.assert_allclose(
        kt.dynamics.momentum(ROBOT, q_k, v_k), np.broadcast_to(momentum, (200, 6)), rtol=0, atol=1e-8
    )
    energy = kt.kinetic_energy(ROBOT, q_k, v_k) / kt.kinetic_energy(ROBOT, q, v) - 1.0
    assert abs(energy).max() < 5e-3
    early, late = energy[:100], energy[100:]
    assert abs(early.mean() - late.mean()) < 0.3 * np.std(energy)


def test_the_error_of_the_midpoint_rule_is_reported() -> None:
    tree, (q, v) = ROBOT.tree, (list(x) for x in moving())
    loads = algorithms.Loads(tree.split([0.0] * ROBOT.nv, "forces"))
    errors = [METHODS["midpoint"](tree.split(q, "nq"), tree.split(v, "nv"), h, loads).error for h in (0.01, 1.0)]
    assert errors[0] < 1e-12 < errors[1]


def test_the_error_of_a_step_is_the_largest_of_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, (q, v) = ROBOT.tree, (list(x) for x in moving())
    errors = iter([1e-3, 4e-3, 2e-3, 1e-4])

    def with_error(*given: Any) -> stages.Evaluation:
        return stages.evaluated(*given)._replace(error=next(errors))

    monkeypatch.setattr(integrators, "evaluated", with_error)
    loads = algorithms.Loads(tree.split([0.0] * ROBOT.nv, "forces"))
    rk4 = algorithms.INTEGRATORS["rk4"]
    end = integrators.step(tree, rk4, tree.split(q, "nq"), tree.split(v, "nv"), 0.01, loads)
    assert end.largest(0) == 4e-3


def test_a_free_body_that_spins_keeps_its_linear_momentum_with_every_integrator() -> None:
    """Velocities are added in axes that do not turn, so not even Euler's method curves the path."""
    robot = kt.ModelBuilder("stone", gravity=(0.0, 0.0, 0.0))
    robot.add_body("world")
    robot.add_body("stone", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    robot.add_joint("free", kt.Free(), "world", "stone")
    stone = robot.build()
    v = np.array([1.0, 2.0, 3.0, 4.0, -5.0, 6.0])
    for integrator in ("semi_implicit_euler", "implicitfast", "discrete", "midpoint", "rk4"):
        states = kt.rollout(stone, stone.neutral(), v, np.zeros((50, 6)), 0.01, integrator=integrator)  # type: ignore[arg-type]
        np.testing.assert_allclose(states[-1, :3], 0.5 * v[:3], rtol=0, atol=1e-13)


def single(kind: kt.joints.JointKind, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> kt.Model:
    builder = kt.ModelBuilder("single", gravity=(0.0, 0.0, 0.0))
    builder.add_body("world")
    builder.add_body("box", kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement(offset)))
    builder.add_joint("joint", kind, "world", "box")
    return builder.build()


@pytest.mark.parametrize(
    "robot",
    [
        single(kt.Free()),
        single(kt.joints.FloatingBase()),
        single(kt.joints.Spherical()),
        single(kt.joints.Spherical(), (0.1, 0.05, 0.2)),
        single(
            kt.joints.Placed(
                kt.joints.Spherical(), kt.lie.placement((0.1, 0.2, 0.3)), kt.lie.placement(rpy=(0.1, 0.2, 0.3))
            )
        ),
    ],
    ids=["free", "floating base", "ball", "ball beside the centre of mass", "ball between placements"],
)
def test_the_energy_of_a_single_body_that_spins_has_an_error_of_order_two_with_discrete(robot: kt.Model) -> None:
    """Of order two, and with no trend, where its other errors are of order one."""
    v = np.zeros(robot.nv)
    v[-3:] = 1.0, 6.0, 0.5
    largest = []
    for steps in (3000, 6000):
        states = kt.rollout(robot, robot.neutral(), v, np.zeros((steps, robot.nv)), 30.0 / steps, integrator="discrete")
        q_k, v_k = np.split(states, [robot.nq], axis=-1)
        error = kt.kinetic_energy(robot, q_k, v_k) / kt.kinetic_energy(robot, robot.neutral(), v) - 1.0
        early, late = np.split(error, 2)
        assert abs(early.mean() - late.mean()) < 0.1 * abs(error).max()
        largest.append(abs(error).max())
    assert largest[0] < 1e-3
    assert np.log2(largest[0] / largest[1]) == pytest.approx(2, abs=0.1)


SPINNING = {
    "energy, free": (1e-2, -1e-2, 2e-6, 2e-13, 6e-7),
    "energy, on a ball joint": (1e-2, 1e-2, 2e-6, 2e-13, 6e-7),
    "angular momentum, free": (5e-3, 5e-3, 1e-3, 1e-11, 2e-14),
    "energy, free with two limbs": (5e-3, 5e-3, 5e-3, 2e-12, -3e-6),
    "angular momentum, free with two limbs": (7e-3, 7e-3, 7e-3, 7e-12, 3e-6),
    "velocity of the centre of mass (m/s), free with two limbs": (1e-2, 1e-2, 1e-2, 1e-11, 9e-14),
}
"""The figures of docs/integrators.md, by the columns below."""
SPINNING_BODIES = {
    "free": single(kt.Free()),
    "on a ball joint": single(kt.joints.Spherical()),
    "free with two limbs": ROBOT,
}


@pytest.mark.parametrize("column", range(5))
def test_the_figures_of_bodies_that_spin_are_those_of_the_page(column: int) -> None:
    """Within a factor of 1.5; what is rounding may be as small as it likes, and ten times as large."""
    name = ("semi_implicit_euler", "implicitfast", "discrete", "rk4", "midpoint")[column]
    page = (Path(__file__).parents[2] / "docs" / "integrators.md").read_text()
    errors: dict[str, float] = {}
    for title, robot in SPINNING_BODIES.items():
        q, v = robot.neutral(), np.zeros(robot.nv)
        angular = slice(3, 6) if robot is ROBOT else slice(-3, None)
        v[angular] = 1.0, 6.0, 0.5
        end = kt.rollout(robot, q, v, np.zeros((3000, robot.nv)), 0.001, integrator=name)[-1]  # type: ignore[arg-type]
        q_1, v_1 = np.split(end, [robot.nq])
        errors[f"energy, {title}"] = kt.kinetic_energy(robot, q_1, v_1) / kt.kinetic_energy(robot, q, v) - 1.0
        before, after = (kt.dynamics.centroidal_momentum(robot, *state) for state in ((q, v), (q_1, v_1)))
        change = np.linalg.norm((after - before)[3:]) / np.linalg.norm(before[3:])
        errors[f"angular momentum, {title}"] = float(change)
        of_center = float(np.linalg.norm((after - before)[:3])) / robot.mass
        errors[f"velocity of the centre of mass (m/s), {title}"] = of_center
    for title, row in SPINNING.items():
        figure, error = row[column], errors[title]
        if abs(figure) < 1e-10:
            assert abs(error) < 10.0 * abs(figure), title
        else:
            assert 1.0 / 1.5 < error / figure < 1.5, title
        shown = [text.strip().replace("\N{MINUS SIGN}", "-") for text in page.split(f"\n| {title} |")[1].split("|")[:5]]
        assert float(shown[column]) == figure
