"""`kt.view`: what is on the page, and what moves it."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelWarning
from kinetree.sim.endings import Divergence
from kinetree.viewer import Viewer
from kinetree.viewer.contacts import Contacts
from kinetree.viewer.controls import add_list

from .pages import clicked, control, descriptions, labels, messages, moved, position_of, texts, wait_until

ARM = kt.zoo.load("arm6")
HAND = list(ARM.joints.values())[-1].child


def test_bodies_are_where_forward_kinematics_puts_them() -> None:
    q = ARM.random(1)
    with kt.view(ARM, q=q, port=0) as viewer:
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), kt.frame_placement(ARM, q, HAND)[:3, 3])
        q = ARM.random(2)
        viewer.set(q)
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), kt.frame_placement(ARM, q, HAND)[:3, 3])


def test_a_slider_moves_the_joint_it_names_and_no_other() -> None:
    q = ARM.random(1)
    k = 2
    name = ARM.q_names[k]
    with kt.view(ARM, q=q, port=0) as viewer:
        assert control(viewer, f"{name}, rad").value == q[k]
        moved(viewer, f"{name}, rad", 0.25)
        q[k] = 0.25
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), kt.frame_placement(ARM, q, HAND)[:3, 3], atol=1e-9)


def test_where_the_sliders_have_moved_it_can_be_asked() -> None:
    with kt.view(ARM, port=0) as viewer:
        moved(viewer, f"{ARM.q_names[1]}, rad", 0.5)
        assert viewer.q.tolist() == [0.0, 0.5, 0.0, 0.0, 0.0, 0.0]
        viewer.set(ARM.random(0, size=3))
        assert viewer.q.shape == (3, 6)


def test_what_goes_wrong_while_it_plays_pauses_it() -> None:
    motion = kt.simulate(ARM, duration=0.2)
    with kt.view(motion, port=0) as viewer:
        viewer.stages[0].bodies.placements = lambda _: 1 / 0  # type: ignore[method-assign,assignment]
        viewer.play()
        wait_until(lambda: not viewer.is_playing)


def test_sliders_follow_what_a_program_sets() -> None:
    with kt.view(ARM, port=0) as viewer:
        last = ARM.random(0)
        for q in (ARM.random(1), ARM.random(2), last):
            viewer.set(q)
        wait_until(lambda: [control(viewer, f"{name}, rad").value for name in ARM.q_names] == last.tolist())


def test_a_free_base_has_sliders_for_its_place_and_its_attitude() -> None:
    dog = kt.zoo.load("quadruped")
    base = next(iter(dog.joints))
    with kt.view(dog, port=0) as viewer:
        moved(viewer, f"{base}.x, m", 0.5)
        moved(viewer, f"{base} yaw, rad", np.pi / 2)
        q = dog.neutral()
        q[:7] = [0.5, 0.0, 0.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
        foot = next(name for name in dog.bodies if "foot" not in name and "front" in name)
        assert np.allclose(position_of(viewer, f"/robot/{foot}"), kt.frame_placement(dog, q, foot)[:3, 3], atol=1e-9)


def test_buttons_lead_to_configurations() -> None:
    q = ARM.random(3)
    with kt.view(ARM, q=q, port=0) as viewer:
        viewer.set(ARM.random(4))
        moved(viewer, "go to", "start")
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), kt.frame_placement(ARM, q, HAND)[:3, 3])
        moved(viewer, "state", "neutral")
        assert np.allclose(
            position_of(viewer, f"/robot/{HAND}"), kt.frame_placement(ARM, ARM.neutral(), HAND)[:3, 3], atol=1e-7
        )


@pytest.mark.parametrize("name", ["collision shapes", "frames", "joint axes", "centre of mass", "velocities", "names"])
def test_each_switch_can_be_turned(name: str) -> None:
    with kt.view(ARM, port=0) as viewer:
        for on in (True, False, True):
            assert moved(viewer, name, on) == []
        viewer.set(ARM.random(0))


def test_names_are_beside_their_bodies_at_once() -> None:
    q = ARM.random(5)
    with kt.view(ARM, q=q, port=0) as viewer:
        moved(viewer, "names", True)
        assert np.allclose(position_of(viewer, f"/names/{HAND}"), kt.frame_placement(ARM, q, HAND)[:3, 3])


def test_axes_of_joints_suit_the_bodies() -> None:
    for robot, shortest, longest in ((ARM, 0.1, 1.0), (_chain(200), 0.05, 0.3)):
        with kt.view(robot, port=0, show="axes") as viewer:
            arrows = viewer.stages[0]._overlays["axes"]._turning._node.points  # type: ignore[attr-defined]
            lengths = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=-1)
            assert shortest < lengths.min() < lengths.max() < longest


def test_missing_contacts_are_reported_on_the_page() -> None:
    robot = kt.ModelBuilder("rod")
    robot.add_body("base")
    robot.add_body("rod", kt.solids.box(0.1, 0.1, 1.0, mass=1.0))
    robot.add_joint("hinge", kt.Revolute((0, 1, 0)), "base", "rod")
    with kt.view(robot.build(), port=0) as viewer:
        ((title, body),) = moved(viewer, "contacts and forces", True)
        assert title == "contacts and forces cannot be shown"
        assert "no shapes of 'rod' can touch" in body
        assert control(viewer, "contacts and forces").value is False


def test_contact_forces_carry_a_ball() -> None:
    empty = kt.ModelBuilder("ball on the ground")
    empty.add_body("world")
    robot = empty.build().with_free_body("sphere", 0.1, mass=1.0).on_ground()
    with kt.view(robot, q=[0.0, 0.0, 0.099, 0.0, 0.0, 0.0, 1.0], port=0, show="contacts") as viewer:
        stage = viewer.stages[0]
        arrow = stage._overlays["contacts"]._arrows._node.points[0]  # type: ignore[attr-defined]
        assert arrow[1, 2] > arrow[0, 2]
        viewer.set([0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0])
        # A thread may draw them, if the moment before took long.
        wait_until(lambda: not stage._overlays["contacts"]._arrows._node.visible)  # type: ignore[attr-defined]


def test_contacts_of_a_heap_between_long_walls_are_seen() -> None:
    """Balls around walls would hold all twenty bodies, and take the place of the pairs that touch."""
    empty = kt.ModelBuilder("heap")
    empty.add_body("world")
    robot = empty.build().on_ground()
    for k, (x, y) in enumerate(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))):
        size = (2.0 * abs(y) + 0.1, 2.0 * abs(x) + 0.1, 1.0)
        robot = robot.with_obstacle("box", size, kt.lie.placement((x, y, 0.5)), name=f"wall{k}")
    for k in range(20):
        at = kt.lie.placement((0.3 * (k % 5) - 0.6, 0.3 * (k // 5) - 0.45, 0.049))
        shape, size = ("box", (0.1, 0.1, 0.1)) if k % 2 else ("sphere", 0.05)
        robot = robot.with_free_body(shape, size, at, mass=1.0, name=f"thing{k}")  # type: ignore[arg-type]
    with kt.view(robot, port=0, show="contacts") as viewer:
        contacts: Any = viewer.stages[0]._overlays["contacts"]
        points = contacts._points.points
        assert len(points) == 10 + 10 * 4  # a sphere has one, a box four
        np.testing.assert_allclose(points[:, 2], -0.0005, atol=1e-6)
    lengths = []
    for mass in (1.0, 4.0):
        heavier = robot.with_free_body("sphere", 0.05, kt.lie.placement((0.0, 0.0, 0.5)), mass=mass, name="ball")
        with kt.view(heavier, port=0, show="contacts") as viewer:
            contacts = viewer.stages[0]._overlays["contacts"]
            lengths.append(contacts._length)
    assert np.isclose(lengths[0], 4.0 * lengths[1])  # the heaviest body's weight has an arrow of one length


def test_contacts_that_take_long_do_not_hold_up_the_page() -> None:
    empty = kt.ModelBuilder("ball on the ground")
    empty.add_body("world")
    robot = empty.build().with_free_body("sphere", 0.1, mass=1.0).on_ground()
    with kt.view(robot, q=[0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0], port=0, show="contacts") as viewer:
        contacts: Any = viewer.stages[0]._overlays["contacts"]
        contacts._seconds = 10.0
        for z in (0.3, 0.2, 0.09):
            viewer.set([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0])
        wait_until(lambda: contacts._any)


def test_a_motion_has_a_time_and_no_sliders_for_joints() -> None:
    motion = kt.simulate(ARM, q=ARM.random(5), duration=0.2)
    with kt.view(motion, port=0) as viewer:
        assert f"{ARM.q_names[0]}, rad" not in labels(viewer)
        viewer.set_time(0.1)
        assert control(viewer, "t, s").value == 0.1
        expected = kt.frame_placement(ARM, motion.q[100], HAND)[:3, 3]
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), expected, atol=1e-6)
        moved(viewer, "t, s", 0.2)
        expected = kt.frame_placement(ARM, motion.q[-1], HAND)[:3, 3]
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), expected, atol=1e-6)
        with pytest.raises(kt.errors.OptionError, match=r"its own; viewer\.set_time"):
            viewer.set(ARM.neutral())


def test_playing_moves_the_robot_and_ends_where_it_does_not_repeat() -> None:
    motion = kt.simulate(ARM, duration=0.2)
    with kt.view(motion, port=0) as viewer:
        moved(viewer, "repeat", False)
        viewer.play()
        wait_until(lambda: viewer.time == 0.2 and not viewer.is_playing)
        assert (viewer.time, viewer.is_playing) == (0.2, False)


@pytest.mark.parametrize("samples", ["one", "ghosts", "side by side"])
def test_batches(samples: Any) -> None:
    motion = kt.simulate(ARM, q=ARM.neutral() + np.linspace(0.0, 0.3, 4)[:, None], duration=0.05)
    with kt.view(motion, samples=samples, port=0) as viewer:
        moved(viewer, "sample", 2)
        viewer.set_time(0.05)
        moved(viewer, "arrangement", "one")
        expected = kt.frame_placement(ARM, motion.q[2, -1], HAND)[:3, 3]
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), expected, atol=1e-6)


def test_several_samples_of_a_robot_at_rest() -> None:
    with kt.view(ARM, port=0) as viewer:
        viewer.set(ARM.random(0, size=5))
        assert position_of(viewer, f"/robot/{HAND}").any()
        viewer.set(ARM.random(0))


def test_two_motions_run_together_and_may_be_of_different_length() -> None:
    first, second = (kt.simulate(ARM, duration=duration) for duration in (0.1, 0.2))
    with kt.view([first, second], port=0, show="velocities") as viewer:
        viewer.set_time(0.2)
        assert len(viewer.stages) == 2
        expected = kt.frame_placement(ARM, first.q[-1], HAND)[:3, 3]
        assert np.allclose(position_of(viewer, f"/robot/{HAND}"), expected, atol=1e-6)


@pytest.mark.parametrize("samples", ["one", "ghosts", "side by side"])
def test_a_motion_that_is_compared_shows_the_same_samples(samples: Any) -> None:
    starts = ARM.neutral() + np.linspace(0.0, 0.3, 4)[:, None]
    first = kt.simulate(ARM, q=starts, duration=0.05)
    second, single = kt.simulate(ARM, q=starts[:3], duration=0.05), kt.simulate(ARM, duration=0.05)
    with kt.view([first, second, single], samples=samples, port=0) as viewer:
        counts = [_samples_of(viewer, k) for k in range(3)]
        assert counts == ([1, 1, 1] if samples == "one" else [4, 3, 1])
        moved(viewer, "sample", 2)
        aside = [stage._offsets for stage in viewer.stages]
        assert np.array_equal(aside[1][0], aside[0][0]), "each stands where that of the first motion does"
        assert np.allclose(viewer.stages[1].placements - viewer.stages[0].placements, 0.0, atol=1e-9), (
            "they are the same motions"
        )


def _samples_of(viewer: Viewer, motion: int) -> int:
    """How many samples of a motion are on the page: instances of the shapes that include the hand."""
    stage = viewer.stages[motion]
    hand = stage.bodies.bodies.index(HAND)
    nodes = [(handle, pieces) for handle, pieces in stage.grips() if hand in pieces]
    return sum(
        len(node.batched_positions) // len(pieces) if hasattr(node, "batched_positions") else 1
        for node, pieces in nodes
    )


def test_what_does_not_move() -> None:
    builder = kt.ModelBuilder("block")
    builder.add_body("block", kt.solids.box(1.0, 1.0, 1.0, mass=1.0))
    with kt.view(builder.build(), port=0, show=["frames", "axes", "center of mass", "velocities", "names"]) as viewer:
        viewer.set(np.empty(0))
        assert viewer.q.shape == (0,)


def test_a_click_on_a_body_describes_it_and_another_removes_the_description() -> None:
    q = ARM.random(3)
    with kt.view(ARM, port=0) as viewer:
        clicked(viewer, HAND)
        assert descriptions(viewer) == [viewer.stages[0].bodies.about(6)]
        assert descriptions(viewer)[0].startswith(f"{HAND}, ")
        viewer.set(q)
        name = viewer.stages[0].bodies.names[6]
        assert np.allclose(position_of(viewer, f"/robot/about/0 {name}"), kt.frame_placement(ARM, q, HAND)[:3, 3])
        clicked(viewer, HAND)
        viewer.set(ARM.random(4))
        assert descriptions(viewer) == []


def test_a_click_on_one_of_many_bodies_or_samples_describes_it() -> None:
    with kt.view(_chain(80), port=0) as viewer:
        clicked(viewer, "link 7")
        assert [text.partition(",")[0] for text in descriptions(viewer)] == ["link 7"]
    with kt.view(ARM, q=ARM.random(0, size=3), samples="side by side", port=0) as viewer:
        clicked(viewer, HAND, sample=2)
        name = viewer.stages[0].bodies.names[6]
        expected = kt.frame_placement(ARM, ARM.random(0, size=3)[2], HAND)[:3, 3] + viewer.stages[0]._offsets[2]
        assert np.allclose(position_of(viewer, f"/all/about/2 {name}"), expected)


def test_only_what_has_one_surface_can_be_taken_hold_of_among_many() -> None:
    """viser 1.1's page fails as a whole where a batched node of several surfaces can be clicked on or dragged."""
    with kt.view(_chain(80), port=0) as viewer:
        grips = viewer.stages[0].grips()
        assert sorted(piece for _, pieces in grips for piece in pieces) == list(range(80))
        for handle, _ in grips:
            length = int.from_bytes(handle.glb_data[12:16], "little")
            (mesh,) = json.loads(handle.glb_data[20 : 20 + length])["meshes"]
            assert len(mesh["primitives"]) == 1


def _chain(count: int) -> kt.Model:
    chain = kt.ModelBuilder("chain")
    chain.add_body("link 0")
    for k in range(1, count):
        chain.add_body(f"link {k}", kt.solids.box(0.02, 0.02, 0.1, mass=0.1))
        chain.add_joint(
            f"joint {k}", kt.Revolute((0, 1, 0)), f"link {k - 1}", f"link {k}", placement=kt.lie.placement((0, 0, 0.1))
        )
    return chain.build()


def test_many_bodies_are_few_nodes() -> None:
    with kt.view(_chain(200), port=0) as viewer:
        buffer = viewer.server._websock_server._broadcast_buffer
        before = buffer.message_counter
        viewer.set(np.full(199, 0.01))
        assert buffer.message_counter - before < 128  # what a browser applies at once
        assert "coordinates" in labels(viewer)
        moved(viewer, "coordinates", control(viewer, "coordinates").options[-1])
        assert "joint 199, rad" in labels(viewer)
        assert len(labels(viewer)) < 80


def test_what_is_not_drawn_is_listed(tmp_path: Any) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="no.stl"/></geometry></visual>'
        '<visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    )
    with pytest.warns(ModelWarning, match="not everything is drawn"):
        viewer = kt.view(kt.load(path), port=0)
    with viewer:
        assert [one.part for one in viewer.unseen] == ["a[0]"]


@pytest.mark.parametrize(
    ("shown", "options", "sentence"),
    [
        (ARM, {"q": [0.0]}, r"q has shape \(1,\), but 'arm6' needs \(…, 6\)"),
        (ARM, {"shapes": "all"}, "view: shapes is 'visual', 'collision', 'both', not 'all'"),
        (ARM, {"samples": "all"}, "view: samples is 'one', 'ghosts', 'side by side', not 'all'"),
        (ARM, {"show": ["frame"]}, "view: show takes .*, not 'frame'"),
        ([], {}, r"or a list of at least one motion, not \[\]"),
        ("run.npz", {}, r"a motion \(kt.simulate, kt.load_trajectory\), or a list .*, not 'run.npz'"),
    ],
)
def test_what_cannot_be_viewed(shown: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((kt.errors.OptionError, kt.errors.ShapeError), match=sentence):
        kt.view(shown, port=0, **options)


def test_a_closed_page_says_so() -> None:
    viewer = kt.view(ARM, port=0)
    assert re.fullmatch(r"<Viewer of 'arm6': http://127\.0\.0\.1:\d+>", repr(viewer))
    assert viewer.url in viewer._repr_html_()
    viewer.close()
    viewer.close()
    assert repr(viewer) == "<Viewer of 'arm6': closed>"
    viewer.wait()
    with pytest.raises(kt.errors.OptionError, match="no time"):
        viewer.set_time(0.0)


def test_motions_that_ended_early_are_listed() -> None:
    lost = Divergence(0.01, ARM.q_names[2], "state")
    motions = kt.simulate(ARM, q=[ARM.random(k) for k in range(3)], duration=0.02, dt=0.01)
    known = replace(motions, ended=np.array([0.02, 0.01, 0.015]), diverged={(1,): lost})
    with kt.view(known, port=0) as viewer:
        assert f"- **1**: {lost}\n- **2**: ended at t = 0.015 s" in texts(viewer)
    with kt.view(motions, port=0) as viewer:
        assert not any("ended" in text for text in texts(viewer))


def test_contacts_go_on_after_a_moment_that_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    contacts = object.__new__(Contacts)
    contacts._lock, contacts._next, contacts._thread = threading.Lock(), None, None
    contacts._seconds, contacts._on = 1.0, True
    drawn: list[object] = []
    monkeypatch.setattr(Contacts, "_found", lambda _, moment: (1 / moment.q, None))
    monkeypatch.setattr(Contacts, "_put", lambda *given: drawn.append(given[2]))
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    for q in (0.0, 2.0):
        contacts._seconds = 1.0
        contacts.draw(SimpleNamespace(q=q, is_awaited=False))  # type: ignore[arg-type]
        wait_until(lambda: contacts._thread is None)
    assert drawn == [0.5]


def test_a_motion_that_went_to_infinity_leaves_the_others_in_view() -> None:
    builder = kt.ModelBuilder("ball")
    builder.add_body("world")
    builder.add_body("ball", kt.solids.box(0.1, 0.2, 0.3, mass=3.0))
    builder.add_joint("free", kt.Free(), "world", "ball")
    motions = kt.simulate(builder.build(), q=[[0.0] * 6 + [1.0]] * 3, duration=0.4, dt=0.01)
    q = motions.q.copy()
    q[0, 20:, 0], q[1, 25:, 0] = 1e30, 1e300
    with kt.view(replace(motions, q=q), port=0) as viewer:
        assert viewer.stages[0].size < 2.0
        viewer.set_time(0.19)
        before = position_of(viewer, "/robot/ball")
        assert np.allclose(before, q[0, 19, :3])
        viewer.set_time(0.3)
        assert np.allclose(position_of(viewer, "/robot/ball"), before)
        assert np.allclose(viewer.stages[0]._last[2], q[2, 30])


@pytest.mark.parametrize("call", ["add_markdown", "add_html"])
def test_texts_become_markdown_in_one_place(call: str) -> None:
    """Viser shows the HTML in Markdown."""
    rooms = Path(kt.__file__).parent
    holders = [file.relative_to(rooms) for file in rooms.rglob("*.py") if f".{call}(" in file.read_text()]
    assert holders == ([Path("viewer/controls.py")] if call == "add_markdown" else [])


def test_marks_of_a_text_are_itself() -> None:
    with kt.view(ARM, port=0) as viewer:
        add_list(viewer.server.gui, [("<b>a</b>\n# b", "*x* [y](z) `w` \x1b[2J &lt; \u202e 1. $")])
        (written,) = (m["props"]["_markdown"] for m in messages(viewer) if m["type"] == "GuiMarkdownMessage")
    assert written == (r"- **\<b\>a\<\/b\> \# b**: \*x\* \[y\]\(z\) \`w\` \\x1b\[2J \&lt\; \\u202e 1\. \$")
