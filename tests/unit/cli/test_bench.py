"""`kinetree bench`: the table and its peers. Nothing here asserts a speed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
import kinetree.cli.bench as bench_module
from kinetree import zoo
from kinetree.cli.bench import _states
from kinetree.cli.peers import peers
from kinetree.functions import jacobians
from kinetree.functions.dynamics import aba, crba, rnea

from .conftest import Command


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns too short to mean anything."""
    monkeypatch.setattr(bench_module, "_ROUNDS", 1)
    monkeypatch.setattr(bench_module, "_SECONDS", 1e-5)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_one_row_per_function_with_both_peers(kinetree: Command, name: str) -> None:
    result = kinetree("bench", name, "--samples", "16")
    assert (result.code, result.err) == (0, "")
    for word in (
        "aba",
        "rnea",
        "crba",
        "frame_jacobian",
        "frame_placement",
        "batch of 16",
        "pinocchio, µs",
        "mujoco, µs",
    ):
        assert word in result.out
    assert "cannot take this robot" not in result.out
    assert result.out.count("×") == 5 + 3 + 2


@pytest.mark.usefixtures("quick")
def test_peers_that_are_not_installed_are_named(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pinocchio", "mujoco"):
        monkeypatch.setitem(sys.modules, module, None)
    result = kinetree("bench", "cart_pole", "-n", "4")
    assert result.code == 0
    assert "pinocchio is not installed (pip install pin)" in result.out
    assert "mujoco is not installed (pip install mujoco)" in result.out
    assert "×" not in result.out


@pytest.mark.usefixtures("quick")
def test_peers_are_not_asked_to_read_kinetree_s_own_text(kinetree: Command) -> None:
    kt.save(zoo.load("cart_pole"), "cart_pole.json")
    result = kinetree("bench", "cart_pole.json", "-n", "4")
    assert (result.code, result.err) == (0, "")
    assert "pinocchio is measured with URDF files, so it takes no part" in result.out
    assert "mujoco is measured with URDF and MJCF files, so it takes no part" in result.out
    assert "×" not in result.out


@pytest.mark.usefixtures("quick")
def test_mujoco_is_measured_with_its_own_files(kinetree: Command) -> None:
    Path("ball.xml").write_text(
        '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>', encoding="utf-8"
    )
    result = kinetree("bench", "ball.xml", "-n", "4")
    assert (result.code, result.err) == (0, "")
    assert "pinocchio is measured with URDF files" in result.out
    assert "mujoco, µs" in result.out
    assert "cannot take this robot" not in result.out


def test_nothing_to_measure(kinetree: Command) -> None:
    Path("statue.urdf").write_text('<robot name="statue"><link name="stone"/></robot>', encoding="utf-8")
    result = kinetree("bench", "statue.urdf")
    assert result.code == 2
    assert "'statue' has no degree of freedom" in result.err


@pytest.mark.usefixtures("quick")
def test_a_robot_without_forward_dynamics_is_measured_without(kinetree: Command) -> None:
    Path("ghost.urdf").write_text(
        '<robot name="ghost"><link name="a"/><link name="b"/>'
        '<joint name="hinge" type="continuous"><parent link="a"/><child link="b"/></joint></robot>',
        encoding="utf-8",
    )
    result = kinetree("bench", "ghost.urdf", "-n", "4")
    assert result.code == 0
    assert "aba is not defined: joint 'hinge' moves nothing that has inertia" in result.out
    assert "rnea" in result.out


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_peers_compute_the_same_thing(name: str) -> None:
    """The comparison is one of like with like."""
    robot = zoo.load(name)
    states = _states(robot, 3)
    found, absent = peers(zoo.path(name), robot, states)
    assert [peer.name for peer in found] == ["pinocchio", "mujoco"]
    assert absent == []
    q, v, tau = states.q[0], states.v[0], states.tau[0]
    expected: dict[str, Callable[[], np.ndarray]] = {
        "aba": lambda: aba(robot, q, v, tau),
        "rnea": lambda: rnea(robot, q, v, tau),
        "crba": lambda: np.triu(crba(robot, q)),
        "frame_jacobian": lambda: jacobians.frame_jacobian(robot, q, states.frame, expressed_in="local"),
    }
    pinocchio = found[0]
    for function, ours in expected.items():
        theirs = pinocchio.single[function]()
        if function == "crba":
            theirs = np.triu(theirs)
        np.testing.assert_allclose(theirs, ours(), rtol=1e-9, atol=1e-9)


def test_peers_are_at_the_same_state_whatever_their_order_of_joints(tmp_path: Path) -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("base", "b", "a", "c"))
    joints = "".join(
        f'<joint name="to {name}" type="continuous"><origin xyz="0 1 0"/><parent link="{parent}"/>'
        f'<child link="{name}"/><axis xyz="1 0 0"/></joint>'
        for parent, name in (("base", "b"), ("base", "a"), ("b", "c"))
    )
    path = tmp_path / "branched.urdf"
    path.write_text(f'<robot name="branched">{links}{joints}</robot>', encoding="utf-8")
    robot = kt.load(path)
    states = _states(robot, 2)
    (pinocchio, _), _ = peers(path, robot, states)
    layout = kt.interop.Layout(robot, "pinocchio")
    ours = rnea(robot, states.q[0], states.v[0], states.tau[0])
    np.testing.assert_allclose(pinocchio.single["rnea"](), layout.tau_to(states.q[0], ours), rtol=1e-9)


def test_contenders_take_turns() -> None:
    calls: list[str] = []
    times = bench_module._in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")})
    assert set(times) == {"a", "b"}
    assert all(seconds > 0.0 for seconds in times.values())
    changes = sum(x != y for x, y in pairwise(calls))
    assert changes >= 2 * bench_module._ROUNDS - 1
