"""The narrow phase beside MuJoCo's: contacts of two shapes, apart, near each other, touching and deep inside.

    python benchmarks/narrow_phase.py [--samples 1000] [--rounds 5] [PAIR ...]

A pair is two kinds, as "box-hull"; hulls have 24 corners, or as many as their name says, as "hull64". The placements of
a class have signed distances in its range; balls around both shapes overlap, or the pair takes no time at all. kinetree
computes a batch on one thread. MuJoCo's time is that of `mj_collision` for a model with the two geoms, less that for
the same model in which none collides. Processor time in µs per pair of shapes, medians of rounds in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinetree import collision
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.collision import ContactPoint, Shape
from kinetree.expr import Port, Recorder, Scalar, trace_memory
from kinetree.spatial import Mat3, Transform, Vec3

Array = NDArray[np.float64]
MARGIN = 0.01
CLASSES = {
    "apart": (0.1, 0.2),
    "beyond": (0.015, 0.05),
    "near": (0.0, 0.01),
    "touching": (-0.005, 0.0),
    "overlapping": (-0.03, -0.01),
    "deep": (-0.1, -0.05),
}
"""Ranges of the signed distance, m; shapes are 0.1 to 0.6 m large, and contacts within the margin count."""
PAIRS = ("hull-hull", "box-hull", "cylinder-cylinder", "ellipsoid-ellipsoid", "capsule-hull", "hull64-hull64")
REPEAT = 20
"""How often MuJoCo computes each placement."""


def corners(count: int, seed: int) -> Array:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points * np.array([0.25, 0.2, 0.3]) / np.linalg.norm(points, axis=1, keepdims=True)


def shape(kind: str, seed: int) -> tuple[Shape, str]:
    """A shape, and MuJoCo's geom of the mesh named by the seed or of these lengths."""
    match kind:
        case "capsule":
            return collision.Capsule(0.1, 0.2), 'type="capsule" size="0.1 0.2"'
        case "ellipsoid":
            return collision.Ellipsoid(0.1, 0.2, 0.3), 'type="ellipsoid" size="0.1 0.2 0.3"'
        case "cylinder":
            return collision.Cylinder(0.15, 0.25), 'type="cylinder" size="0.15 0.25"'
        case "box":
            return collision.Box(0.1, 0.2, 0.3), 'type="box" size="0.1 0.2 0.3"'
    points = corners(int(kind.removeprefix("hull") or 24), seed)
    return collision.Hull(tuple((x, y, z) for x, y, z in points.tolist())), f'type="mesh" mesh="m{seed}"'


def placed(x: list[Scalar]) -> Transform:
    return Transform(Mat3(Vec3(*x[0:3]), Vec3(*x[3:6]), Vec3(*x[6:9])), Vec3(*x[9:12]))


def compiled(results: Callable[[Transform, Transform], list[Scalar]], count: int) -> Callable[[Array], Array]:
    """Numbers of two placements as a function of batches (n, 24)."""

    def record(recorder: Recorder) -> None:
        x = [recorder.inputs[0][k] for k in range(24)]
        for k, value in enumerate(results(placed(x[:12]), placed(x[12:]))):
            recorder.outputs[0][k] = value

    function: Callable[[Array], Array] = batch_function(
        trace_memory(record, [Port("X", (24,))], [Port("y", (count,))], "pair")
    )
    return function


def numbers(points: tuple[ContactPoint, ...]) -> list[Scalar]:
    return [x for p in points for x in (p.distance, *p.position.components(), *p.normal.components())]


def placements(nearest: Callable[[Array], Array], low: float, high: float, count: int) -> Array:
    """Random ones (count, 24) with signed distances in a range, reached along the normal."""
    rng = np.random.default_rng(0)
    x = np.zeros((4 * count, 24))
    for k in (0, 12):
        axes, _ = np.linalg.qr(rng.normal(size=(len(x), 3, 3)))
        x[:, k : k + 9] = (axes * np.linalg.det(axes)[:, None, None]).reshape(-1, 9)
    offset = rng.normal(size=(len(x), 3))
    x[:, 21:] = 0.6 * offset / np.linalg.norm(offset, axis=1, keepdims=True)
    wanted = rng.uniform(low, high, len(x))
    for _ in range(4):
        y = nearest(x)
        x[:, 21:] += y[:, 4:7] * (wanted - y[:, 0])[:, None]
    distance = nearest(x)[:, 0]
    return x[(distance >= low) & (distance <= high)][:count]


class Beside:
    """MuJoCo's model of two geoms."""

    def __init__(self, geoms: list[str], counts: list[int]) -> None:
        meshes = "".join(
            f'<mesh name="m{k}" vertex="{" ".join(map(str, corners(n, k).ravel()))}"/>' for k, n in enumerate(counts)
        )
        bodies = "".join(f"<body><freejoint/><geom {geom} margin='{MARGIN / 2}'/></body>" for geom in geoms)
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco><asset>{meshes}</asset><worldbody>{bodies}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)

    def seconds(self, x: Array) -> float:
        """Processor time for each placement."""
        total, model, data = 0.0, self.model, self.data
        for row in x:
            for k in range(2):
                E = row[12 * k : 12 * k + 9].reshape(3, 3)
                own = np.zeros(9)
                mujoco.mju_quat2Mat(own, model.geom_quat[k])  # of a mesh, whose axes are those of its inertia
                data.geom_xmat[k] = (E.T @ own.reshape(3, 3)).ravel()
                data.geom_xpos[k] = row[12 * k + 9 : 12 * k + 12] + E.T @ model.geom_pos[k]
            start = time.process_time()
            for _ in range(REPEAT):
                mujoco.mj_collision(model, data)
            total += time.process_time() - start
        return total / len(x) / REPEAT


def compare(pair: str, samples: int, rounds: int) -> None:
    kinds = pair.split("-")
    (a, geom_a), (b, geom_b) = (shape(kind, k) for k, kind in enumerate(kinds))
    counts = [int(kind.removeprefix("hull") or 24) if kind.startswith("hull") else 8 for kind in kinds]
    nearest = compiled(lambda X, Y: numbers((collision.closest(a, X, b, Y),)), 7)
    count = 7 * collision.slots(a.kind, b.kind)
    contacts = compiled(lambda X, Y: numbers(collision.contacts_nearby(a, X, b, Y, MARGIN)), count)
    beside, empty = Beside([geom_a, geom_b], counts), Beside([geom_a, geom_b], counts)
    empty.model.geom_contype[:] = empty.model.geom_conaffinity[:] = 0
    for name, (low, high) in CLASSES.items():
        x = placements(nearest, low, high, samples)
        if len(x) < 50:
            continue
        few = x[:: len(x) // 50]
        own, other = [], []
        for _ in range(rounds):
            start = time.process_time()
            for _ in range(REPEAT):
                contacts(x)
            own.append((time.process_time() - start) / REPEAT / len(x) * 1e6)
            other.append((beside.seconds(few) - empty.seconds(few)) * 1e6)
        ours, theirs = float(np.median(own)), float(np.median(other))
        print(f"{pair:22} {name:12} {ours:12.2f} {theirs:12.2f} {theirs / ours:7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", default=list(PAIRS))
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print(f"{'pair':22} {'class':12} kinetree, µs   MuJoCo, µs   ratio")
    for pair in args.pairs:
        compare(pair, args.samples, args.rounds)


if __name__ == "__main__":
    main()
