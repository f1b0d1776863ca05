"""Pictures of robots and strips of motions: sizes, files, where things are, and what a notebook shows."""

from __future__ import annotations

import errno
import io
import os
import re
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model.elements import Geometry
from kinetree.pictures.png import png_bytes
from kinetree.pictures.scene import Scene, floor_of
from kinetree.pictures.strip import strip_times

Image = pytest.importorskip("PIL.Image")

SMALL: Any = {"size": (96, 54)}
PENDULUM = kt.zoo.load("double_pendulum")


def with_balls() -> kt.Model:
    """A blue ball that stands still, and a red one that slides along y."""
    builder = kt.ModelBuilder("balls")
    for name, color in (("still", (0.0, 0.0, 1.0, 1.0)), ("moving", (1.0, 0.0, 0.0, 1.0))):
        shape = Geometry("visual", "sphere", (0.2,), kt.Transform.identity(), color=color)
        builder.add_body(name, kt.solids.sphere(0.2, mass=1.0), geometry=[shape])
    builder.add_joint("slide", kt.Prismatic([0, 1, 0]), "still", "moving")
    return builder.build()


BALLS = with_balls()


def count(picture: NDArray[np.uint8], channel: int) -> int:
    """How many pixels have much of one color."""
    others = [k for k in range(3) if k != channel]
    return int((picture[..., channel].astype(int) - picture[..., others].max(axis=-1) > 50).sum())


def test_a_picture_is_an_array_or_a_file(tmp_path: Path) -> None:
    picture = kt.render(PENDULUM, [0.5, 0.5], **SMALL)
    assert (picture.shape, picture.dtype) == ((54, 96, 3), np.uint8)
    path = kt.render(PENDULUM, [0.5, 0.5], **SMALL, path=tmp_path / "arm")
    assert path == tmp_path / "arm.png"
    with Image.open(path) as read:
        assert (np.asarray(read) == picture).all()
    assert (kt.render(PENDULUM, **SMALL) == kt.render(PENDULUM, PENDULUM.neutral(), **SMALL)).all()


def test_a_ball_is_where_the_camera_sees_it() -> None:
    camera, size = kt.pictures.Camera((4.0, 0.5, 1.0), (0.0, 0.3, 0.0)), (240, 160)
    for y in (-0.5, 0.6):
        picture = kt.render(BALLS, [y], size=size, camera=camera).astype(int)
        rows, columns = np.nonzero(picture[..., 0] - picture[..., 1:].max(axis=-1) > 60)
        where = camera.project([0.0, y, 0.0], size)
        assert np.abs([columns.mean() + 0.5, rows.mean() + 0.5] - where).max() < 2.0
        radius = 0.5 * (np.ptp(columns) + 1)
        assert radius == pytest.approx(0.2 * size[1] / (2 * np.tan(0.3)) / np.hypot(4.0, 1.0), rel=0.08)


def test_everything_is_in_the_picture() -> None:
    for y in (0.0, 3.0, 300.0):
        picture = kt.render(BALLS, [y], size=(400, 100), ground=False)
        edge = np.concatenate((picture[0], picture[-1], picture[:, 0], picture[:, -1])).astype(int)
        assert np.ptp(edge, axis=-1).max() < 40, "nothing but the background"
        assert count(picture, 0) + count(picture, 2) > 0


def test_several_configurations() -> None:
    q = np.array([[[1.0]], [[-1.0]]])
    beside, ghosts = (kt.render(BALLS, q, **SMALL, samples=samples) for samples in ("side by side", "ghosts"))
    camera = kt.pictures.Camera((6.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    one, both = (kt.render(BALLS, x, **SMALL, camera=camera, samples="ghosts") for x in (q[0], q))
    assert count(beside, 2) > 1.3 * count(ghosts, 2) * 0.5
    assert count(one, 2) == count(both, 2), "what does not move is there once"
    assert (one != both).any()


def test_shapes_and_ground() -> None:
    robot = kt.zoo.load("quadruped")
    visual, collision, both = (kt.render(robot, **SMALL, shapes=shapes) for shapes in ("visual", "collision", "both"))
    assert (visual != collision).any()
    assert (visual != both).any()
    assert (kt.render(robot, **SMALL, ground=False) != visual).any()
    assert (kt.render(robot, **SMALL, ground=True) == visual).all()
    on_slope = kt.render(robot.on_slope(0.3), **SMALL)
    assert (on_slope != kt.render(robot.on_ground(), **SMALL)).any()


def height_of_floor(robot: kt.Model, *q: list[float]) -> float:
    scene = Scene(robot)
    placements = scene.placements(np.array(q))
    floor = floor_of(scene, placements, scene.corners(placements))
    assert floor is not None
    return floor.height


def test_the_floor_is_under_a_base_that_stands_still() -> None:
    """A post of 1 m, and a ball that comes down beside it."""
    builder = kt.ModelBuilder("lift")
    post = Geometry("visual", "box", (0.1, 0.1, 1.0), kt.Transform.identity())
    ball = Geometry("visual", "sphere", (0.05,), kt.Transform.identity())
    builder.add_body("post", kt.solids.box(0.1, 0.1, 1.0, mass=1.0), geometry=[post])
    builder.add_body("ball", kt.solids.sphere(0.05, mass=1.0), geometry=[ball])
    builder.add_joint("lift", kt.Prismatic([0, 0, 1]), "post", "ball", kt.lie.placement((0.5, 0, 0)))
    robot = builder.build()
    assert height_of_floor(robot, [0.5], [0.0]) == pytest.approx(-0.5), "the ball stays above"
    assert height_of_floor(robot, [0.5], [-0.5]) == pytest.approx(-0.5), "half of it sinks into the floor"
    assert height_of_floor(robot, [0.5], [-0.9]) == pytest.approx(-0.95), "it goes far below, and must be seen"


def test_a_base_that_is_not_drawn_stands_at_0() -> None:
    builder = kt.ModelBuilder("bare")
    builder.add_body("base")
    builder.add_body(
        "ball",
        kt.solids.sphere(0.2, mass=1.0),
        geometry=[Geometry("visual", "sphere", (0.2,), kt.Transform.identity())],
    )
    builder.add_joint("lift", kt.Prismatic([0, 0, 1]), "base", "ball")
    robot = builder.build()
    assert height_of_floor(robot, [0.22]) == height_of_floor(robot, [0.19]) == 0.0
    assert height_of_floor(robot, [1.0]) == pytest.approx(0.8)
    assert height_of_floor(robot, [0.0]) == pytest.approx(-0.2)


def test_the_floor_touches_a_round_foot_whatever_its_attitude() -> None:
    """A box around a tilted ball would be lower than the ball."""
    builder = kt.ModelBuilder("ball")
    shape = Geometry("visual", "sphere", (0.2,), kt.Transform.identity())
    builder.add_body("ball", kt.solids.sphere(0.2, mass=1.0), geometry=[shape])
    robot = builder.build(floating_base=True)
    for q in ([0.0, 0, 0, 0, 0, 0, 1], [0.0, 0, 0, 0.5, 0.5, 0.5, 0.5], [0.0, 0, 0, 0.3, 0.2, 0.1, 0.9]):
        assert height_of_floor(robot, q) == pytest.approx(-0.2, rel=0.12)


def test_parameters_place_what_is_fixed_to_something(tmp_path: Path) -> None:
    """The blue ball of each copy is where its parameter has it, and the red one, which slides along y, is not moved."""
    builder = kt.ModelBuilder("fixed")
    for name, color in (("post", (0.0, 0.0, 1.0, 1.0)), ("slider", (1.0, 0.0, 0.0, 1.0))):
        ball = Geometry("visual", "sphere", (0.2,), kt.Transform.identity(), color=color)
        builder.add_body(name, kt.solids.sphere(0.2, mass=1.0), geometry=[ball])
    builder.add_body("world")
    builder.add_joint("fixed", kt.Fixed(), "world", "post")
    builder.add_joint("slide", kt.Prismatic([0, 1, 0]), "world", "slider")
    robot = builder.build()
    camera, size = kt.pictures.Camera((6.0, 0.0, 1.0), (0.0, 0.0, 0.0)), (240, 160)
    poses = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (2, 1))
    poses[:, 1] = [0.8, -0.8]

    def columns(picture: NDArray[np.uint8], channel: int) -> list[float]:
        """Where balls are, from left to right."""
        others = [k for k in range(3) if k != channel]
        there = (picture[..., channel].astype(int) - picture[..., others].max(axis=-1) > 25).any(axis=0)
        first = np.flatnonzero(np.diff(there.astype(int), prepend=0) == 1)
        last = np.flatnonzero(np.diff(there.astype(int), append=0) == -1)
        return [float(x) for x in 0.5 * (first + last + 1)]

    def seen_at(*y: float) -> Any:
        return pytest.approx(camera.project([[0.0, one, 0.0] for one in y], size)[:, 0].tolist(), abs=2.0)

    values = {"body.post.placement": poses}
    one = kt.render(robot, [0.0], size=size, camera=camera, parameters={"body.post.placement": poses[0]})
    both = kt.render(robot, [0.0], size=size, camera=camera, samples="ghosts", parameters=values)
    assert columns(one, 2) == seen_at(0.8)
    assert columns(both, 2) == seen_at(-0.8, 0.8)
    assert columns(one, 0) == columns(both, 0) == seen_at(0.0)

    motion = kt.simulate(robot, q=[[0.0], [0.0]], duration=0.02, dt=0.01, record=[])
    strip = motion.strip(size=(200, 100), moments=1, which=1, parameters=values)
    assert columns(strip, 2)[0] < columns(strip, 0)[0] - 10.0
    for missing in (2, (2,)):
        with pytest.raises(kt.errors.OptionError, match=r"strip: (there are 2 samples|samples must be indices)"):
            motion.strip(which=missing, parameters=values)
    path = motion.film(tmp_path / "a.webp", size=size, camera=camera, samples="ghosts", parameters=values)
    with Image.open(path) as film:
        assert columns(np.asarray(film.convert("RGB")), 2) == seen_at(-0.8, 0.8)
    with pytest.raises(kt.errors.ShapeError, match=r"film: body.post.placement has shape \(3, 7\), which does not fit"):
        motion.film(tmp_path / "b.webp", parameters={"body.post.placement": np.tile(poses[0], (3, 1))})
    with pytest.raises(kt.errors.ShapeError, match=r"render: body.post.placement has shape \(6,\), but 'fixed' needs"):
        kt.render(robot, parameters={"body.post.placement": np.zeros(6)})
    with pytest.raises(kt.errors.DTypeError, match="render: parameters must be a dict"):
        kt.render(robot, parameters=[1.0])  # type: ignore[call-overload]
    with pytest.raises(kt.errors.NameNotFoundError, match="placment"):
        kt.render(robot, parameters={"body.post.placment": poses[0]})


def test_a_robot_without_shapes_is_seen() -> None:
    builder = kt.ModelBuilder("bare")
    builder.add_body("base")
    builder.add_body("arm", kt.solids.box(0.1, 0.1, 0.5, mass=1.0))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "arm")
    robot = builder.build()
    empty = kt.render(robot, size=(64, 36), camera=kt.pictures.Camera((50.0, 0.0, 0.0), (60.0, 0.0, 0.0)), ground=False)
    assert (kt.render(robot, size=(64, 36), ground=False) != empty).any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"q": [0.0]}, kt.errors.ShapeError, "needs"),
        ({"q": [np.nan, 0.0]}, kt.errors.ConfigurationError, "a configuration is finite"),
        ({"q": np.zeros((0, 2))}, kt.errors.OptionError, "1 to 64 samples, and these are 0"),
        ({"q": np.zeros((5, 13, 2))}, kt.errors.OptionError, "1 to 64 samples, and these are 65"),
        ({"size": (0, 10)}, kt.errors.OptionError, "size must be"),
        ({"camera": "follow"}, kt.errors.OptionError, r"camera must be a kt\.pictures\.Camera or None, not 'follow'"),
        ({"samples": "all"}, kt.errors.OptionError, "samples must be"),
        ({"shapes": "all"}, kt.errors.OptionError, "shapes must be"),
        ({"ground": "yes"}, kt.errors.OptionError, "ground must be True, False or None"),
        ({"path": 3}, kt.errors.DTypeError, "render takes the path of a file"),
        ({"path": "/nowhere/at/all.png"}, kt.errors.SaveError, "make the folder /nowhere/at first"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.render(PENDULUM, **options)


def test_a_full_disk_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a.png").write_text("old")
    monkeypatch.setattr("kinetree.files.os.fsync", full)
    with pytest.raises(kt.errors.SaveError, match="No space left"):
        kt.render(PENDULUM, **SMALL, path=tmp_path / "a")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


def test_png_files_are_what_others_read() -> None:
    rng = np.random.default_rng(0)
    for shape in ((1, 1, 3), (7, 5, 3), (40, 64, 3)):
        picture = rng.integers(0, 256, shape).astype(np.uint8)
        with Image.open(io.BytesIO(png_bytes(picture))) as read:
            assert (np.asarray(read) == picture).all()


def test_strips_have_their_moments_from_left_to_right(tmp_path: Path) -> None:
    motion = kt.simulate(BALLS, q=[-0.5], v=[1.0], duration=1.0, dt=0.01, record=[])
    picture = motion.strip(size=(400, 60), moments=4)
    assert isinstance(picture, np.ndarray)
    blue = (picture[..., 2].astype(int) - picture[..., 0] > 60).any(axis=0)
    assert int((np.diff(blue.astype(int)) == 1).sum()) == 4, "the ball that stands still, at four moments"
    path = motion.strip(tmp_path / "run", size=(400, 60), moments=4)
    assert path == tmp_path / "run.png"
    with Image.open(path) as read:
        assert (np.asarray(read) == picture).all()
    ghosts = motion.strip(size=(96, 54), moments=4, samples="ghosts")
    assert isinstance(ghosts, np.ndarray)
    assert count(ghosts, 2) > 0
    with pytest.raises(kt.errors.OptionError, match="moments must be a whole number from 1 to 32, not 0"):
        motion.strip(moments=0)


def test_moments_are_where_the_robot_moves() -> None:
    push = np.zeros((100, 1))
    push[50] = 100.0  # at rest for half of the time
    motion = kt.simulate(BALLS, q=[0.0], tau=push, duration=1.0, dt=0.01, record=[])
    times = strip_times(motion, BALLS, 6, 0, 1.0)
    assert (times[0], times[-1]) == (0.0, 1.0)
    assert (times[1:] > 0.5).sum() >= 4
    still = kt.simulate(BALLS, q=[0.0], duration=1.0, dt=0.01, record=[])
    assert np.diff(strip_times(still, BALLS, 5, 0, 1.0)) == pytest.approx(0.25)


def test_a_robot_that_falls_out_of_sight_is_still_seen_in_a_strip() -> None:
    ball = kt.solids.sphere(0.2, mass=1.0)
    builder = kt.ModelBuilder("falling")
    shape = Geometry("visual", "sphere", (0.2,), kt.Transform.identity(), color=(1.0, 0.0, 0.0, 1.0))
    builder.add_body("ball", ball, geometry=[shape])
    robot, q = builder.build(floating_base=True), [0.0, 0, 0, 0, 0, 0, 1]
    with pytest.warns(kt.errors.SimulationWarning, match="has fallen by"):
        motion = kt.simulate(robot, q=q, duration=3.0, dt=0.01, record=[])
    picture = motion.strip(size=(200, 50), moments=4)
    assert isinstance(picture, np.ndarray)
    assert count(picture, 0) > 1000


def test_notebooks_show_a_picture_and_the_text() -> None:
    motion = kt.simulate(PENDULUM, q=[[1.0, 0.5]], duration=0.01)
    for one in (PENDULUM, motion, motion[0]):
        page = one._repr_html_()
        assert page is not None
        assert "&lt;Trajectory of" in page or "Model &#x27;double_pendulum&#x27;" in page
        data = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
        with Image.open(io.BytesIO(b64decode(data[0]))) as read:
            assert read.size in ((640, 360), (1000, 250))


def test_notebooks_show_the_text_where_nothing_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise kt.errors.MissingPackageError("not installed")

    monkeypatch.setattr("kinetree.pictures.render.picture_of", fails)
    assert PENDULUM._repr_html_() is None
    assert replace(kt.simulate(PENDULUM, duration=0.01), kept=None)._repr_html_() is None


def test_a_robot_without_joints_is_drawn() -> None:
    builder = kt.ModelBuilder("post")
    builder.add_body("post", kt.solids.box(0.1, 0.1, 1.0, mass=1.0))
    assert kt.render(builder.build(), size=(64, 36)).std() > 1.0


def test_a_robot_that_has_nothing_to_draw_is_reported() -> None:
    builder = kt.ModelBuilder("nothing")
    builder.add_body("point")
    with pytest.raises(kt.errors.OptionError, match="'nothing' has nothing to be drawn: no shapes"):
        kt.render(builder.build(), size=(64, 36))
