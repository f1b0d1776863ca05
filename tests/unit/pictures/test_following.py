"""A camera that follows a body, in pictures, strips and films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.pictures.shots import followed, shots


def flying() -> kt.Trajectory:
    """Two balls on a rod, that fly 3 m and turn about a level axis."""
    builder = kt.ModelBuilder("dumbbell", gravity=(0.0, 0.0, 0.0))
    builder.add_body("rod", kt.solids.cylinder(0.03, 0.6, mass=1.0))
    builder.add_body("ball", kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("weld", kt.Fixed(), "rod", "ball", kt.lie.placement((0.0, 0.0, 0.4)))
    robot = builder.build(floating_base=True)
    return kt.simulate(robot, v=[3.0, 0.0, 0.0, 0.0, 2.0, 0.0], duration=1.0, dt=1e-2)


MOTION = flying()
NEAR = kt.pictures.Camera(position=(0.0, -2.0, 0.0), target=(0.0, 0.0, 0.0), follows="ball")


def path() -> np.ndarray:
    return kt.frame_placement(MOTION.model, MOTION.q, "ball")[:, :3, 3]


def test_the_body_is_in_the_middle_of_every_frame() -> None:
    way = followed(MOTION.model, MOTION.q, NEAR)
    np.testing.assert_array_equal(way, path())
    camera_at = shots(np.zeros((101, 26, 3)), (64, 64), NEAR, 100.0, way)
    for frame in (20, 50, 80):
        camera = camera_at(frame)
        assert camera.follows == ""
        assert np.subtract(camera.position, camera.target) == pytest.approx([0.0, -2.0, 0.0])
        assert np.linalg.norm(np.subtract(camera.target, path()[frame])) < 0.3  # smoothed over 0.3 s of a turn
    still = shots(np.zeros((101, 26, 3)), (64, 64), NEAR, 1e-3, way)  # 0.3 ms of the film are no frame: not smoothed
    assert still(50).target == pytest.approx(path()[50])


def test_each_moment_of_a_strip_has_a_picture_of_its_own() -> None:
    moments, size = 4, (160, 40)
    strip = MOTION.strip(size=size, moments=moments, camera=NEAR)
    assert strip.shape == (40, 160, 3)
    own = [strip[:, 40 * k : 40 * (k + 1)] for k in range(moments)]
    dark = [float(np.abs(x[18:22, 18:22].astype(float) - x[0, 0]).mean()) for x in own]
    assert min(dark) > 10.0  # the ball is in the middle of each
    fixed = MOTION.strip(size=size, moments=moments, camera=kt.pictures.Camera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0)))
    assert np.array_equal(
        fixed[:, :40],
        MOTION.strip(size=(40, 40), moments=1, camera=kt.pictures.Camera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0))),
    )
    assert not np.array_equal(fixed, strip)


def test_ghosts_are_seen_at_the_last_moment() -> None:
    ghosts = MOTION.strip(size=(80, 40), moments=3, camera=NEAR, samples="ghosts")
    fixed = MOTION.strip(size=(80, 40), moments=3, camera=NEAR.at(path()[-1]), samples="ghosts")
    assert np.array_equal(ghosts, fixed)


def test_a_picture_is_taken_relative_to_the_body() -> None:
    robot, q = MOTION.model, MOTION.q[40]
    assert np.array_equal(
        kt.render(robot, q, camera=NEAR, size=(64, 36)), kt.render(robot, q, camera=NEAR.at(path()[40]), size=(64, 36))
    )


def test_a_film(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    film = MOTION.film(tmp_path / "fly.gif", size=(64, 36), fps=5, camera=NEAR)
    other = MOTION.film(tmp_path / "other.gif", size=(64, 36), fps=5, camera="whole")
    assert film.read_bytes() != other.read_bytes()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"camera": kt.pictures.Camera((0, 1, 0), (0, 0, 0), follows="bal")},
            kt.errors.NameNotFoundError,
            "did you mean 'ball'",
        ),
        ({"camera": "follow"}, kt.errors.OptionError, "camera must be a kt.pictures.Camera, or None"),
        ({"camera": NEAR, "moments": 30, "size": (20, 20)}, kt.errors.OptionError, "no room for 30 moments"),
    ],
)
def test_what_cannot_be_followed(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        MOTION.strip(**options)
    with pytest.raises(kt.errors.OptionError, match="follows must be the name"):
        kt.pictures.Camera((0, 1, 0), (0, 0, 0), follows=3)  # type: ignore[arg-type]
