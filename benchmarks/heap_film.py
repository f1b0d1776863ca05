"""Thirty bodies of five shapes fall into a box: docs/pictures/heap.webp, the film of docs/contact.md.

    python benchmarks/heap_film.py [--path FILE]

The bodies have 585 pairs of shapes, which are in loops; the motion takes steps of 2 ms.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import kinetree as kt

FILM = Path(__file__).parents[1] / "docs" / "pictures" / "heap.webp"
SHAPES = {
    "box": ("0.09 0.07 0.05", "0.84 0.32 0.25 1"),
    "sphere": ("0.07", "0.25 0.52 0.76 1"),
    "capsule": ("0.045 0.07", "0.93 0.69 0.22 1"),
    "cylinder": ("0.065 0.06", "0.33 0.62 0.43 1"),
    "ellipsoid": ("0.1 0.07 0.05", "0.56 0.42 0.7 1"),
}
WALLS = (
    ("0.02 0.44", "0.42 0", 0.35), ("0.02 0.44", "-0.42 0", 1.0), ("0.4 0.02", "0 0.42", 1.0),
    ("0.4 0.02", "0 -0.42", 0.25),
)  # fmt: skip
"""Half lengths, m, place and opacity of each wall."""


def heap(count: int = 30) -> str:
    """The scene as an MJCF file: four bodies per layer, each turned another way, above a box without a lid."""
    rng = np.random.default_rng(4)
    parts = [
        f'<geom type="box" size="{size} 0.2" pos="{place} 0.2" rgba="0.6 0.65 0.7 {alpha}"/>'
        for size, place, alpha in WALLS
    ]
    for k in range(count):
        shape = list(SHAPES)[k % len(SHAPES)]
        size, color = SHAPES[shape]
        x, y = 0.22 * np.array([k % 2 - 0.5, k // 2 % 2 - 0.5]) + 0.02 * rng.normal(size=2)
        roll, pitch, yaw = rng.uniform(-90.0, 90.0, 3)
        parts.append(
            f'<body pos="{x} {y} {0.5 + 0.24 * (k // 4)}" euler="{roll} {pitch} {yaw}"><freejoint/>'
            f'<geom type="{shape}" size="{size}" mass="1" rgba="{color}"/></body>'
        )
    parts.append('<geom type="plane" size="5 5 1"/>')
    option = '<option timestep="0.002" cone="elliptic"/>'
    return f"<mujoco>{option}<worldbody>{''.join(parts)}</worldbody></mujoco>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--path", type=Path, default=FILM)
    path = parser.parse_args().path
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "heap.xml"
        file.write_text(heap())
        robot = kt.load(file)
    began = time.process_time()
    motion = kt.simulate(robot, duration=1.6, dt=0.002, contact=True, integrator="discrete")
    print(f"the motion of {len(motion.time) - 1:,} steps took {time.process_time() - began:.1f} s of processor time")
    camera = kt.pictures.Camera(position=(1.25, -1.7, 1.55), target=(0.0, 0.0, 0.4), up=(0.0, 0.0, 1.0))
    motion.film(path, size=(360, 270), fps=15, speed=0.5, camera=camera)
    print(f"{path}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
