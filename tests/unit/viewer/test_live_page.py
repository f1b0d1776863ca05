"""Motions that are shown on a page while they are computed: the page's side, without a browser."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sim.live import Live
from kinetree.viewer import view
from kinetree.viewer.live import Hand, LivePage
from kinetree.viewer.viewer import Viewer

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.2}


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # viser: what is sent to a server that is about to stop
        with view(ROBOT, port=0) as shown:
            yield shown


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[LivePage]:
    """The pages of motions that are computed."""
    made: list[LivePage] = []
    first = LivePage.__init__

    def remembered(page: LivePage, *given: Any, **options: Any) -> None:
        first(page, *given, **options)
        made.append(page)

    monkeypatch.setattr(LivePage, "__init__", remembered)
    return made


def texts(pages: list[LivePage]) -> str:
    return str(pages[-1]._text.content)


def at_moments(monkeypatch: pytest.MonkeyPatch, act: Callable[[float, LivePage], None]) -> list[float]:
    """Let something happen after each moment that is shown."""
    seen: list[float] = []
    show = LivePage.show

    def shown(page: LivePage, t: float, q: Any, v: Any) -> None:
        show(page, t, q, v)
        seen.append(t)
        act(t, page)

    monkeypatch.setattr(LivePage, "show", shown)
    return seen


def drag(phase: str, start: Any = (0.0, 0.0, 0.0), end: Any = (0.0, 0.0, 0.0), mouse: int = 0) -> Any:
    """A movement of the mouse, as viser reports it."""
    return SimpleNamespace(phase=phase, start_position=start, end_position=end, client_id=mouse, instance_index=None)


def hand_of(page: LivePage) -> Hand:
    assert page._hand is not None
    return page._hand


def test_a_motion_on_a_page_is_the_same_to_the_bit_and_stays_there(viewer: Viewer, pages: list[LivePage]) -> None:
    wanted = kt.simulate(ROBOT, **START)
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    np.testing.assert_array_equal(motion.q, wanted.q)
    assert motion.recorded.keys() == wanted.recorded.keys()
    assert viewer._player is not None
    assert not viewer.is_closed
    assert texts(pages) == "The motion is complete."
    viewer.set_time(0.1)


def test_bodies_are_where_the_motion_is(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    placements: list[Any] = []
    seen = at_moments(monkeypatch, lambda *_: placements.append(viewer.stages[0].placements[2]))
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    assert len(seen) > 2
    rows = [round(t / motion.dt) for t in seen]
    np.testing.assert_allclose(placements, kt.frame_placement(ROBOT, motion.q[rows], "lower_rod"), atol=1e-12)


def test_nobody_opens_the_page(
    pages: list[LivePage], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kinetree.viewer.live.PATIENCE", 0.05)
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(speed=math.inf), **START)
    viewer = pages[0]._viewer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        viewer.close()
    assert motion.q.shape == (201, 2)
    assert viewer.url in caplog.text


@pytest.mark.parametrize("is_paused", [True, False])
def test_the_page_is_closed_before_the_motion_ends(
    viewer: Viewer, is_paused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(t: float, page: LivePage) -> None:
        if t > 0.1 and not viewer.is_closed:
            if is_paused:
                page._motion.pause()
                threading.Timer(0.05, viewer.close).start()
            else:
                viewer.close()

    seen = at_moments(monkeypatch, act)
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    np.testing.assert_array_equal(motion.q, kt.simulate(ROBOT, **START).q)
    assert viewer.is_closed
    assert seen[-1] > 0.1


def test_the_end_button_returns_what_was_computed(
    viewer: Viewer, pages: list[LivePage], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_moments(monkeypatch, lambda t, page: page._motion.stop() if t > 0.1 else None)
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    assert 100 < len(motion.time) < 201
    assert texts(pages) == "The motion was ended here."
    assert viewer._player is not None


def test_a_motion_that_diverges_says_so_on_the_page(viewer: Viewer, pages: list[LivePage]) -> None:
    with pytest.raises(kt.errors.SimulationError):
        kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=math.inf), v=[1e150, 0.0], **START)
    assert "no longer finite" in texts(pages)


def test_ctrl_c_leaves_the_motion_on_the_page(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    def act(t: float, _: LivePage) -> None:
        if t > 0.1:
            raise KeyboardInterrupt

    at_moments(monkeypatch, act)
    with pytest.raises(kt.sim.SimulationInterrupted):
        kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    assert viewer._player is not None


def test_a_body_is_pushed_towards_the_mouse_that_dragged_last(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    kt.simulate(ROBOT, f_ext={"lower_rod": np.zeros(6)}, **START)
    held: list[Any] = []

    def act(t: float, page: LivePage) -> None:
        hand, motion = hand_of(page), page._motion
        if t == 0.0:
            at = kt.frame_placement(ROBOT, START["q"], "lower_rod") @ [0.0, 0.0, -0.2, 1.0]
            hand.drag(drag("update", end=(9.0, 9.0, 9.0), mouse=1), 2)  # nothing is held
            hand.drag(drag("start", at[:3], (0.4, 0.0, 0.3), mouse=1), 2)
            held.append(motion.pushed)  # type: ignore[attr-defined]
            hand.drag(drag("start", at[:3], (0.5, 0.0, 0.4), mouse=2), 2)
            hand.drag(drag("end", mouse=1), 2)
            hand.drag(drag("start", (0.0, 0.0, 0.0), mouse=3), 0)  # the base is fixed
            hand.drag(drag("update", end=(0.6, 0.0, 0.5), mouse=2), 2)
            held.append(motion.pushed)  # type: ignore[attr-defined]
        elif t > 0.15:
            hand.drag(drag("end", mouse=2), 2)

    at_moments(monkeypatch, act)
    monkeypatch.setattr("kinetree.sim.live.Live.waits", True)
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=1.0), **START)
    assert [one.body for one in held] == ["lower_rod", "lower_rod"]
    np.testing.assert_allclose(held[0].point, [0.0, 0.0, -0.2], atol=1e-12)
    assert held[1].target == (0.6, 0.0, 0.5)
    pushed = motion.recorded["push.body"] == [*ROBOT.bodies].index("lower_rod")
    assert pushed[0]
    assert not pushed[-1]
    start = kt.frame_placement(ROBOT, START["q"], "lower_rod") @ [0.0, 0.0, -0.2, 1.0]
    np.testing.assert_allclose(motion.recorded["push.point"][0], start[:3], atol=1e-12)
    direction = np.array([0.6, 0.0, 0.5]) - start[:3]
    np.testing.assert_allclose(np.cross(motion.recorded["push.force"][0], direction), 0.0, atol=1e-9)


def test_shapes_can_be_dragged_while_the_motion_is_computed_and_not_afterwards(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    draggable: list[set[int]] = []

    def count(*_: Any) -> None:
        grips = viewer.stages[0].grips()
        draggable.append({pieces[0] for handle, pieces in grips if handle._impl.drag_cb})

    at_moments(monkeypatch, count)
    kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), **START)
    assert draggable[0] == {1, 2}
    count()
    assert not draggable[-1]


def test_a_batch_is_seen_and_cannot_be_pushed(viewer: Viewer, pages: list[LivePage]) -> None:
    q = [[1.0, 0.5], [0.2, -0.4], [0.3, 0.3]]
    motion = kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=4.0), q=q, duration=0.1)
    assert motion.shape == (3,)
    assert pages[-1]._hand is None


def test_a_robot_without_joints_is_seen() -> None:
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", kt.solids.box(0.1, 0.2, 0.3, mass=3.0))
    with view(stone := builder.build(), port=0) as viewer:
        assert kt.simulate(stone, view=kt.sim.Viewing(viewer, speed=math.inf), duration=0.01).q.shape == (11, 0)


def test_a_stream_is_seen(viewer: Viewer, tmp_path: Any) -> None:
    motion = kt.simulate(
        ROBOT, view=kt.sim.Viewing(viewer, speed=math.inf), record=kt.sim.Recording(stream=tmp_path / "run"), **START
    )
    assert motion.is_complete
    assert viewer._player is not None


def test_the_page_shows_how_quickly_time_passes() -> None:
    from kinetree.viewer.live import _clock

    def motion(speed: float, factor: float, is_paused: bool = False) -> Any:
        return SimpleNamespace(speed=speed, factor=factor, is_paused=is_paused, is_preparing=speed == 2.0)

    assert _clock(1.25, motion(1.0, math.nan)) == "t = 1.25 s"
    assert _clock(1.25, motion(1.0, 1.0)) == "t = 1.25 s, at 1.00 × real time"
    assert _clock(1.25, motion(1.0, 0.3)) == "t = 1.25 s, at 0.30 × real time, as computing takes longer"
    assert _clock(1.25, motion(math.inf, 300.0)) == "t = 1.25 s, at 300.00 × real time"
    assert _clock(1.25, motion(2.0, 2.0)).endswith("real time; pushes are being prepared, once")
    assert _clock(1.25, motion(1.0, 1.0, is_paused=True)) == "t = 1.250 s, paused"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": 1}, r"view must be True, False or .* not 1$"),
        ({"view": kt.sim.Viewing(3, speed=2.0)}, "must be True, False or .* not 3$"),
        ({"view": None}, "must be True, False or .* not None$"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.simulate(ROBOT, duration=0.01, **options)


def test_pages_that_cannot_show_the_motion(viewer: Viewer) -> None:
    with pytest.raises(kt.errors.OptionError, match="another robot"):
        kt.simulate(kt.zoo.load("cart_pole"), view=viewer, duration=0.01)
    with (
        view(kt.simulate(ROBOT, **START), port=0) as other,
        pytest.raises(kt.errors.OptionError, match="shows motions"),
    ):
        kt.simulate(ROBOT, view=other, duration=0.01)
    viewer.close()
    with pytest.raises(kt.errors.OptionError, match="is closed"):
        kt.simulate(ROBOT, view=viewer, duration=0.01)


def test_friction_that_is_too_stiff_leaves_the_page_as_it_was() -> None:
    builder = kt.ModelBuilder("stiff")
    builder.add_body("base")
    builder.add_body("rod", kt.solids.box(0.1, 0.2, 0.3, mass=3.0))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "rod", damping=[1e5])
    robot = builder.build()
    with view(robot, port=0) as viewer:
        with pytest.raises(kt.errors.StiffFrictionError):
            kt.simulate(robot, view=viewer, integrator="rk4", duration=0.01)
        assert viewer._player is None
        viewer.set([0.1])
        kt.simulate(robot, view=viewer, integrator="semi_implicit_euler", duration=0.01)


def test_a_stream_that_was_ended_at_once_leaves_nothing_to_play(
    viewer: Viewer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_moments(monkeypatch, lambda _, page: page._motion.stop())
    motion = kt.simulate(ROBOT, view=viewer, record=kt.sim.Recording(stream=tmp_path / "run"), **START)
    assert not motion.is_complete
    assert viewer._player is None


def test_a_page_is_used_again(viewer: Viewer) -> None:
    for _ in range(2):
        kt.simulate(ROBOT, view=kt.sim.Viewing(viewer, speed=math.inf), **START)
        assert viewer._player is not None
    viewer.become(None)
    viewer.set([0.1, 0.2])


def test_a_page_waits_for_somebody_only_so_long(viewer: Viewer) -> None:
    began = time.monotonic()
    assert not viewer.wait_for_somebody(0.05)
    assert time.monotonic() - began < 2.0


def test_the_motion_knows_whether_a_page_is_open(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(lambda *_: None)
    page = LivePage(viewer, live)
    page.show(0.0, ROBOT.neutral(), np.zeros(2))
    assert not live.is_seen
    monkeypatch.setattr(viewer.server, "get_clients", lambda: {0: None})
    live.pause()
    page.show(0.0, ROBOT.neutral(), np.zeros(2))
    assert live.is_seen
