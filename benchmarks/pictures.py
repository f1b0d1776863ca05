"""A film of a robot of 50,000 triangles: what drawing and encoding a picture take.

    python benchmarks/pictures.py [--frames 300] [--size 1280 720] [--threads 2] [--stages]

The robot is the zoo's humanoid with each triangle cut into four; it moves its joints and turns around, the camera is at
rest. Seconds are those of the wall, and of the processor on all threads together, which say more on a busy machine.

What was expected before this was optimised, for one picture of 1280 × 720 with 2 × 2 samples per pixel on one core of
2.5 GHz, in ms: placing 30,000 vertices 1; setting up 50,000 triangles for the camera and the light 5; finding the
nearest of them at 3.7 million samples 15, and in the light's picture 10; shading 500,000 samples at 60 ns each 30; the
floor at 900,000 pixels 25, or 5 where the camera is at rest; averages and sRGB 10; x264 25. Together 120 ms, so 300
pictures in 18 s on two cores; in NumPy a picture takes 1 to 3 s. `--stages` prints what each takes.
"""

from __future__ import annotations

import argparse
import importlib
import io
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.appearance import Surface, looks_of, placements_of
from kinetree.pictures import Floor, framing
from kinetree.pictures.draw import Drawing
from kinetree.pictures.encoders import encoder_for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--size", type=int, nargs=2, default=(1280, 720))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--stages", action="store_true")
    options = parser.parse_args()

    robot = kt.zoo.load("humanoid")
    looks = looks_of(robot)
    surfaces = [_finer(part.surface) for part in looks.parts]
    swing = np.sin(np.linspace(0.0, 20.0, options.frames))[:, None] * np.linspace(-0.6, 0.6, robot.nv)
    swing[:, :6] = 0.0
    swing[:, 5] = np.linspace(0.0, 6.0, options.frames)
    placements = placements_of(robot, looks, robot.integrate(robot.neutral(), swing))
    corners = np.concatenate(
        [s.vertices @ m[:3, :3].T + m[:3, 3] for s, m in zip(surfaces, placements[0], strict=True)]
    )
    size = (options.size[0], options.size[1])
    camera, floor = framing(corners, size, margin=0.12), Floor(float(corners[:, 2].min()))
    drawing = Drawing(surfaces)

    def draw(k: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return drawing(placements[k], camera, size, floor=floor, threads=options.threads)

    pictures = draw(0)  # compiles, or loads from the disk
    stages = _watched() if options.stages else {}
    print(f"{sum(len(s.faces) for s in surfaces)} triangles, {size[0]} × {size[1]}, {options.frames} frames")
    drawn = _timed("drawing", lambda: [draw(k) for k in range(options.frames)][-1], options.frames)
    for name, seconds in stages.items():
        print(f"  {name:15} {1e3 * seconds / options.frames:7.2f} ms of the processor")
    file = io.BytesIO()

    def film() -> None:
        encoder = encoder_for(".mp4", size, Fraction(30), lambda: pictures)(file)
        for k in range(options.frames):
            encoder.add(draw(k))
        encoder.close()

    whole = _timed("with encoding", film, options.frames)
    print(f"encoding alone {1e3 * (whole - drawn) / options.frames:.1f} ms of the processor per frame")


def _timed(name: str, work: Callable[[], object], frames: int) -> float:
    """Seconds of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(
        f"{name:15} {wall:6.2f} s, {1e3 * wall / frames:6.1f} ms per frame; of the processor {processor:6.2f} s, "
        f"{1e3 * processor / frames:6.1f} ms per frame"
    )
    return processor


def _watched() -> dict[str, float]:
    """The time of each kernel from now on, by its name."""
    seconds: dict[str, float] = {}
    for module in (importlib.import_module(f"kinetree.pictures.{name}") for name in ("draw", "lamp", "placed")):
        for name, kernel in list(vars(module).items()):
            if isinstance(kernel, type) or not getattr(kernel, "__module__", "").startswith(
                "kinetree.pictures.kernels"
            ):
                continue
            label = name + (" (light)" if module.__name__.endswith("lamp") and name == "find_nearest" else "")

            def timed(*given: Any, kernel: Callable[..., Any] = kernel, label: str = label) -> None:
                start = time.thread_time()
                kernel(*given)
                seconds[label] = seconds.get(label, 0.0) + time.thread_time() - start

            setattr(module, name, timed)
    return seconds


def _finer(surface: Surface) -> Surface:
    """The same surface with four triangles for each."""
    i, j, k = surface.faces.T
    n, m = len(surface.vertices), len(surface.faces)

    def between(x: Any) -> Any:
        halves = [(x[a].astype(np.float64) + x[b]) / 2 for a, b in ((i, j), (j, k), (k, i))]
        return np.concatenate((x, *halves)).astype(x.dtype)

    ij, jk, ki = (n + np.arange(m) + part * m for part in range(3))
    faces = np.concatenate([np.column_stack(t) for t in ((i, ij, ki), (ij, j, jk), (ki, jk, k), (ij, jk, ki))])
    return Surface(between(surface.vertices), faces.astype(np.int32), between(surface.normals), between(surface.colors))


if __name__ == "__main__":
    main()
