"""What `repr` of a robot prints."""

from __future__ import annotations

import kinetree as kt
from tests.unit.model.bodies import ball, chain, shift


def test_the_tree_shows_joints_bodies_masses_and_places_in_q_and_v() -> None:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", ball(5.0))
    for name in ("left", "right", "tip"):
        builder.add_body(name, ball(2.0))
    builder.add_body("sensor", ball(0.5))
    builder.add_joint("l", kt.Revolute([0, 0, 1]), "base", "left")
    builder.add_joint("r", kt.Prismatic([0, 1, 0]), "base", "right")
    builder.add_joint("t", kt.joints.Continuous([1, 0, 0]), "left", "tip")
    builder.add_joint("glue", kt.Fixed(), "left", "sensor", shift(1.0))
    builder.note("a note of ours")
    assert repr(builder.build(floating_base=True)).splitlines() == [
        "Model 'robot': 4 moving joints, nq = 10, nv = 9, floating base, 11.5 kg, gravity (0, 0, -9.81) m/s²",
        "                 world",
        "  q[0:7] v[0:6]  └─ root_joint (free) → base, 5 kg",
        "  q[7] v[6]         ├─ l (revolute about z) → left with sensor, 2.5 kg",
        "  q[9] v[8]         │  └─ t (continuous about x) → tip, 2 kg",
        "  q[8] v[7]         └─ r (prismatic along y) → right, 2 kg",
        "note: a note of ours",
        "note: bodies on fixed joints were merged into the body they are fixed to (1): sensor",
    ]


def test_a_robot_without_joints_is_a_line_and_its_base() -> None:
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", ball(3.0))
    assert repr(builder.build()).splitlines() == [
        "Model 'stone': 0 moving joints, nq = 0, nv = 0, fixed base, 3 kg, gravity (0, 0, -9.81) m/s²",
        "    stone, 3 kg",
    ]


def test_a_long_chain_is_cut_short_and_stays_on_the_page() -> None:
    lines = repr(chain([(kt.Revolute([0, 1, 0]), ball())] * 3000)).splitlines()
    assert len(lines) < 70
    assert max(map(len, lines)) < 160
    assert lines[-1].strip() == "… and 2940 more joints"


def test_singular_joints_are_named() -> None:
    text = repr(chain([(kt.Revolute([0, 1, 0]), ball(0.0))]))
    assert "forward dynamics is not defined, because nothing with inertia resists these joints: j1" in text


def test_many_notes_are_cut_short() -> None:
    builder = kt.ModelBuilder("noted")
    builder.add_body("base")
    for k in range(30):
        builder.note(f"note {k}")
    assert repr(builder.build()).splitlines()[-1] == "… and 18 more notes, in Model.notes"
