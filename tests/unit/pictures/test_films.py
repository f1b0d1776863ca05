"""Films: what is in the files, decoded again, and what happens if something goes wrong."""

from __future__ import annotations

import errno
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.pictures.film import film_of, frame_times
from kinetree.pictures.moments import configurations_at

av = pytest.importorskip("av")
Image = pytest.importorskip("PIL.Image")

SMALL: Any = {"size": (96, 54), "fps": 10}


def slider() -> kt.Model:
    """A red ball of 0.2 m that slides along y."""
    builder = kt.ModelBuilder("slider")
    builder.add_body("rail")
    builder.add_body("ball", kt.solids.sphere(0.2, mass=0.001), geometry=[ball()])
    builder.add_joint("slide", kt.Prismatic([0, 1, 0]), "rail", "ball")
    return builder.build()


def ball() -> Any:
    from kinetree.model import Geometry

    return Geometry("visual", "sphere", (0.2,), kt.Transform.identity(), color=(1.0, 0.0, 0.0, 1.0))


ROBOT = slider()
CAMERA = kt.pictures.Camera((4.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def motion() -> kt.Trajectory:
    return kt.simulate(ROBOT, q=[-0.5], v=[1.0], duration=1.0, record=[])


def frames_of(path: Path) -> tuple[list[NDArray[np.uint8]], float]:
    """All frames, and how many seconds they last."""
    if path.suffix == ".mp4":
        with av.open(str(path)) as file:
            stream = file.streams.video[0]
            return [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)], float(
                stream.duration * stream.time_base
            )
    found, seconds = [], 0.0
    with Image.open(path) as file:
        for k in range(file.n_frames):
            file.seek(k)
            file.load()
            seconds += file.info["duration"] / 1000.0
            found.append(np.asarray(file.convert("RGB")))
    return found, seconds


def middle_of_red(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The mean column and row of what is red."""
    red = picture.astype(int)
    rows, columns = np.nonzero((red[..., 0] - red[..., 1] > 80) & (red[..., 0] - red[..., 2] > 80))
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5])


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_the_robot_is_where_the_motion_has_it(motion: kt.Trajectory, suffix: str, tmp_path: Path) -> None:
    path = motion.film(tmp_path / f"run{suffix}", size=(192, 108), fps=10, camera=CAMERA)
    frames, seconds = frames_of(path)
    assert len(frames) == 11
    assert seconds == pytest.approx(1.1, abs=0.011)
    for frame, t in zip(frames, np.linspace(0.0, 1.0, 11), strict=True):
        assert frame.shape == (108, 192, 3)
        where = CAMERA.project([0.0, t - 0.5, 0.0], (192, 108))
        assert np.abs(middle_of_red(frame) - where).max() < 1.5
    assert [name.name for name in tmp_path.iterdir()] == [path.name]


def test_an_mp4_film_has_the_colors_of_its_pictures(motion: kt.Trajectory, tmp_path: Path) -> None:
    path = motion.film(tmp_path / "run.mp4", size=(192, 108), fps=1, camera=CAMERA)
    with av.open(str(path)) as file:
        frame = next(file.decode(video=0))
    assert (int(frame.colorspace), int(frame.color_range)) == (1, 1), "BT.709, limited"
    drawn = kt.render(ROBOT, motion.q[0], size=(192, 108), camera=CAMERA, ground=False).astype(int)
    assert np.abs(frame.to_ndarray(format="rgb24")[:10].astype(int) - drawn[:10]).mean() < 2.0


def test_slow_motion_and_frames_between_rows(tmp_path: Path) -> None:
    few = kt.simulate(ROBOT, q=[-0.5], v=[1.0], duration=1.0, dt=0.25, record=[])
    frames, _ = frames_of(few.film(tmp_path / "slow.gif", **SMALL, speed=0.5, camera=CAMERA))
    assert len(frames) == 21
    between = configurations_at(few, ROBOT, np.array([0.1, 0.25, 0.6, 1.0]))
    assert between[:, 0, 0] == pytest.approx([-0.4, -0.25, 0.1, 0.5])
    assert frame_times(0.0, 1.0, 30, 1.0).shape == (31,)
    assert frame_times(0.0, 0.99, 30, 1.0).shape == (30,)


def test_a_gif_lasts_as_long_as_it_should_at_any_rate(motion: kt.Trajectory, tmp_path: Path) -> None:
    """A frame of a GIF lasts whole hundredths of a second, and 30 of 3 are no second."""
    _, seconds = frames_of(motion.film(tmp_path / "run.gif", size=(64, 36), fps=30))
    assert seconds == pytest.approx(31 / 30, abs=0.006)


def test_a_motion_of_one_row_is_one_frame(motion: kt.Trajectory, tmp_path: Path) -> None:
    for suffix in (".mp4", ".gif", ".webp"):
        frames, _ = frames_of(film_of(ROBOT, motion.q[:1], tmp_path / f"one{suffix}", **SMALL))
        assert len(frames) == 1


def test_the_camera_follows_a_robot_that_goes_far(tmp_path: Path) -> None:
    q = np.linspace(0.0, 30.0, 21)[:, None]
    follows, _ = frames_of(film_of(ROBOT, q, tmp_path / "a.mp4", **SMALL))
    whole, _ = frames_of(film_of(ROBOT, q, tmp_path / "b.mp4", **SMALL, camera="whole"))
    size = [(frame[..., 0].astype(int) - frame[..., 1] > 60).sum() for frame in (follows[10], whole[10])]
    assert size[0] > 30 * max(size[1], 1)
    assert all(np.abs(middle_of_red(frame) - (48, 27)).max() < 14 for frame in follows)


def test_samples_are_beside_each_other_or_ghosts(tmp_path: Path) -> None:
    motions = kt.simulate(ROBOT, q=[[-0.3], [0.3]], v=[0.0], duration=0.1, record=[])
    beside, _ = frames_of(motions.film(tmp_path / "a.webp", **SMALL))
    ghosts, _ = frames_of(motions.film(tmp_path / "b.webp", **SMALL, samples="ghosts"))
    alone, _ = frames_of(motions.film(tmp_path / "c.webp", **SMALL, which=[1]))
    red = [(one[0][..., 0].astype(int) - one[0][..., 1] > 100).sum() for one in (beside, ghosts, alone)]
    assert red[0] > 1.4 * red[1]
    assert red[2] > 0.6 * red[0]


def test_a_sample_that_diverged_is_not_seen_from_then_on(tmp_path: Path) -> None:
    tau = np.zeros((2, 20, 1))
    tau[1, 9] = 1e308
    with pytest.warns(kt.errors.SimulationWarning):
        motions = kt.simulate(ROBOT, q=[[-0.3], [0.3]], tau=tau, duration=0.2, dt=0.01, record=[])
    frames, _ = frames_of(motions.film(tmp_path / "run.webp", size=(96, 54), fps=20, camera=CAMERA))
    red = [(frame[..., 0].astype(int) - frame[..., 1] > 100).sum() for frame in frames]
    assert red[0] == pytest.approx(2 * red[-1], rel=0.3)
    lone = motions.film(tmp_path / "one.gif", **SMALL, which=[(1,)])
    assert len(frames_of(lone)[0]) == 3


def test_a_motion_that_grows_without_bound_keeps_its_picture(tmp_path: Path) -> None:
    q = np.concatenate((np.linspace(0.0, 0.5, 15), [1e3, 1e8, 1e30, 1e200, np.inf]))[:, None]
    for camera in (None, "whole", "follow"):
        frames, _ = frames_of(film_of(ROBOT, q, tmp_path / "run.webp", **SMALL, camera=camera))
        assert (frames[5][..., 0].astype(int) - frames[5][..., 1] > 100).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "run.avi"}, r"must end with \.mp4, \.gif, \.webp, and 'run\.avi' does not"),
        ({"path": "run"}, "must end with"),
        ({"fps": 0}, "fps must be a number above 0, at most 1000, not 0"),
        ({"fps": True}, "fps must be"),
        ({"fps": float("nan")}, "fps must be"),
        ({"speed": -1.0}, "speed must be a number above 0"),
        ({"path": "run.gif", "fps": 60}, "at most 50 frames per second, not 60"),
        ({"size": (101, 50)}, r"even width and height, such as \(1280, 720\), and not \(101, 50\)"),
        ({"size": 7}, "size must be the width and height"),
        ({"camera": "left"}, "camera must be a kt.pictures.Camera, 'whole'"),
        ({"samples": "both"}, "samples must be 'side by side' or 'ghosts'"),
        ({"shapes": "none"}, "shapes must be 'visual'"),
        ({"progress": 3}, "progress must be a function"),
    ],
)
def test_what_cannot_be_is_refused(
    motion: kt.Trajectory, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / options.pop("path", "run.mp4")
    with pytest.raises(kt.errors.OptionError, match=message):
        motion.film(path, **{"size": (64, 36), **options})
    assert list(tmp_path.iterdir()) == []


def test_no_frames_and_too_many_samples_are_refused(motion: kt.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match="no rows, so there are no frames"):
        film_of(ROBOT, motion.q[:0], tmp_path / "run.mp4")
    empty = replace(motion, time=motion.time[:0], q=motion.q[:0])
    with pytest.raises(kt.errors.OptionError, match="has no rows, so there is nothing to be seen"):
        empty.film(tmp_path / "run.mp4")
    with pytest.raises(kt.errors.OptionError, match="has no rows, so there is nothing to be seen"):
        empty.strip()
    with pytest.raises(kt.errors.OptionError, match="1 to 64 samples, and these are 65"):
        kt.simulate(ROBOT, q=np.zeros((65, 1)), duration=0.002, record=[]).film(tmp_path / "run.mp4")


def test_an_older_file_needs_the_robot(motion: kt.Trajectory, tmp_path: Path) -> None:
    old = replace(motion, kept=None)
    with pytest.raises(kt.errors.OptionError, match=r"does not have the robot itself.*robot=kt\.load\(FILE\)"):
        old.film(tmp_path / "run.gif", **SMALL)
    with pytest.raises(kt.errors.OptionError, match="is not that of the motion: its coordinates are"):
        old.film(tmp_path / "run.gif", **SMALL, robot=kt.zoo.load("cart_pole"))
    assert old.film(tmp_path / "run.gif", **SMALL, robot=ROBOT).exists()


def test_motions_on_disk_are_filmed(motion: kt.Trajectory, tmp_path: Path) -> None:
    opened = kt.load_trajectory(motion.save(tmp_path / "run"))
    folder = kt.simulate(
        ROBOT, q=[-0.5], v=[1.0], duration=1.0, record=kt.sim.Recording([], stream=tmp_path / "folder")
    )
    ours = [one.film(tmp_path / f"{k}.gif", **SMALL).read_bytes() for k, one in enumerate((motion, opened, folder))]
    assert ours[0] == ours[1] == ours[2]


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_a_full_disk_leaves_the_old_film(
    motion: kt.Trajectory, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / f"run{suffix}"
    path.write_text("old")
    monkeypatch.setattr("kinetree.files.os.fsync", full)
    with pytest.raises(kt.errors.SaveError, match="cannot be written: No space left on device"):
        motion.film(path, **SMALL)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_a_disk_that_fills_up_while_the_film_is_written(motion: kt.Trajectory, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(kt.errors.SaveError, match="cannot be written: "):
        motion.film(path, **SMALL)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_film_that_is_interrupted_leaves_no_half_file(
    motion: kt.Trajectory, error: type[BaseException], tmp_path: Path
) -> None:
    calls: list[tuple[int, int]] = []

    def progress(done: int, frames: int) -> None:
        calls.append((done, frames))
        if done == 4:
            raise error

    with pytest.raises(error):
        motion.film(tmp_path / "run.mp4", **SMALL, progress=progress)
    assert calls == [(1, 11), (2, 11), (3, 11), (4, 11)]
    assert list(tmp_path.iterdir()) == []
    assert not [one for one in threading.enumerate() if one.name.startswith("kinetree-film")]


@pytest.mark.parametrize(("missing", "suffix"), [("av", ".mp4"), ("PIL", ".gif")])
def test_a_package_that_is_missing_is_named(
    motion: kt.Trajectory, missing: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(kt.errors.MissingPackageError, match=r"pip install 'kinetree\[view\]'"):
        motion.film(tmp_path / f"run{suffix}", **SMALL)
    assert list(tmp_path.iterdir()) == []
