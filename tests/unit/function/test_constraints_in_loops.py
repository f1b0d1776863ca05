"""Constraints on robots whose bodies are looped over: the same numbers as written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.differentiation import derived, specialized
from kinetree.compiler.specialization import Specialization
from kinetree.expr import Loop, Program, interpret
from tests import functions

TURNED = kt.lie.placement((0.1, 0.0, 0.2), rpy=(0.3, -0.2, 0.5))
SETS: dict[str, list[kt.constraints.Contact | kt.constraints.Loop]] = {
    "redundant rows": [
        kt.constraints.Contact("tip a", "fixed", at=TURNED, position_gain=3.0),
        kt.constraints.Contact("tip a", [0, 0, 1]),
    ],
    "closed loop": [kt.constraints.Loop("tip a", "tip b", velocity_gain=2.0)],
    "rod": [
        kt.constraints.Loop("tip b", "tip a", "distance", length=0.3, position_gain=1.5),
        kt.constraints.Contact("tip b", axes="local"),
    ],
    "both": [kt.constraints.Loop("hip", "tip b", "fixed"), kt.constraints.Contact("tip a")],
    "world": [kt.constraints.Contact("world", [0, 0, 1]), kt.constraints.Contact("hip", [0, 1, 0])],
}
NAMES = [name for name, function in functions.LOOPING.items() if "constraints" in function.definition.options]  # type: ignore[attr-defined]


def robot_of(base: Any, *, shared: bool = False, links: int = 2) -> kt.Model:
    """Two arms on a hip."""
    builder = kt.ModelBuilder("two arms")
    builder.add_body("world")
    builder.add_body("hip", kt.solids.box(0.2, 0.1, 0.3, mass=2.0))
    builder.add_joint("base", base, "world", "hip")
    for side, sign in (("a", 1.0), ("b", -1.0)):
        parent = "hip"
        for k in range(links):
            name = f"{side}{k}"
            solid = kt.solids.box(0.1, 0.12, 0.2, mass=0.5, placement=kt.lie.placement((0.01, 0.0, 0.1)))
            builder.add_body(name, solid)
            axis = [float(n == (k + (side == "b")) % 3) for n in range(3)]
            mimic = kt.model.Mimic(f"joint a{links - 1}", -1.5, 0.2) if shared and name == "b0" else None
            place = kt.lie.placement((0.0, 0.1 * sign, 0.15), rpy=(0.2 * sign, 0.1, 0.0))
            builder.add_joint(f"joint {name}", kt.Revolute(axis), parent, name, place, mimic=mimic)
            parent = name
        builder.add_frame(f"tip {side}", parent, kt.lie.placement((0.02, 0.03, 0.2), rpy=(0.1, 0.2, 0.3)))
    return builder.build()


ROBOTS = {
    "free": robot_of(kt.Free()),
    "hinged": robot_of(kt.Revolute([0, 0, 1])),
    "shared": robot_of(kt.Revolute([1, 0, 0]), shared=True),
}


def options_of(name: str, robot: kt.Model, **given: Any) -> dict[str, Any]:
    definition = functions.EVERY[name].definition  # type: ignore[attr-defined]
    return {option: check(robot, given.get(option)) for option, check in definition.options.items()}


def program_of(name: str, robot: kt.Model, *, unroll: bool, mode: str = "", **given: Any) -> Program:
    definition = functions.EVERY[name].definition  # type: ignore[attr-defined]
    options = options_of(name, robot, **given)
    if not mode:
        return Specialization(definition, robot, options, (), (), unroll).program()
    by = tuple(name for name, _ in definition.inputs)
    return specialized(derived(definition, mode, by, ()), robot, options, (), (), unroll).program()


def arguments_of(program: Program, robot: kt.Model, seed: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [
        (robot.random(rng) if port.name == "q" else 0.5 * rng.normal(size=port.size)).tolist()
        for port in program.inputs
    ]


def loops_agree(name: str, robot: kt.Model, mode: str = "", **given: Any) -> None:
    straight, looped = (program_of(name, robot, unroll=unroll, mode=mode, **given) for unroll in (True, False))
    values = arguments_of(looped, robot, 1)
    meant, found = (np.ravel(interpret(program, *values)[0]) for program in (straight, looped))
    np.testing.assert_allclose(found, meant, rtol=1e-8, atol=1e-8 * np.abs(meant).max())


@pytest.mark.parametrize(
    ("name", "kind"),
    [pytest.param(name, kind, id=f"{name}-{kind}") for name in NAMES for kind in SETS],
)
def test_loops_give_what_the_straight_line_gives(name: str, kind: str) -> None:
    """Each function with each robot, and each set of constraints with each robot."""
    turn = NAMES.index(name) + list(SETS).index(kind)
    loops_agree(name, list(ROBOTS.values())[turn % len(ROBOTS)], constraints=SETS[kind])


@pytest.mark.parametrize(("mode", "kind"), [("jvp", "redundant rows"), ("vjp", "closed loop")])
@pytest.mark.parametrize("name", ["constraint_errors", "constraint_bias", "constrained_dynamics"])
def test_so_do_their_derivatives(name: str, kind: str, mode: str) -> None:
    loops_agree(name, ROBOTS["hinged"], mode, constraints=SETS[kind])


@pytest.mark.parametrize("rule", [{"method": "operational_space"}, {"damping": 0.1}, {"tolerance": 0.0}])
def test_every_way_to_treat_rows_is_the_same_in_loops(rule: dict[str, Any]) -> None:
    loops_agree("constrained_dynamics", ROBOTS["free"], constraints=SETS["closed loop"], **rule)


def test_a_matrix_of_the_size_of_the_result_does_not_mix_with_others() -> None:
    """Λ, J and H have as many rows and columns each."""
    robot = ROBOTS["hinged"]
    contacts = [kt.constraints.Contact("tip a"), kt.constraints.Contact("tip b", np.eye(3)[:2])]
    assert robot.nv == sum(contact.size for contact in contacts)
    loops_agree("operational_space_inertia", robot, constraints=contacts)


def test_many_rows_are_decomposed_in_loops_as_well() -> None:
    robot = robot_of(kt.Free(), links=6)
    contacts = [kt.constraints.Contact(f"tip {side}", "fixed") for side in "ab"] * 2
    looped = program_of("operational_space_inertia", robot, unroll=False, constraints=contacts)
    assert any(isinstance(s, Loop) and s.carried for s in looped.body.statements)
    (values,) = arguments_of(looped, robot, 1)
    (found,) = interpret(looped, values)
    J, H = kt.constraints.constraint_jacobian(robot, values, contacts), kt.crba(robot, values)
    meant = np.linalg.pinv(J @ np.linalg.solve(H, J.T), rcond=1e-10)
    np.testing.assert_allclose(found, meant.ravel(), atol=1e-8 * np.abs(meant).max())
