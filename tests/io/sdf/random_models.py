"""Random SDF models: nested, with poses relative to anything and axes in any frame."""

from __future__ import annotations

import random

import numpy as np

from tests.io.sdf.robots import inertial, model, sdf

__all__ = ["random_model"]

_TYPES = ("revolute", "continuous", "prismatic", "ball", "universal", "fixed", "screw")


def random_model(seed: int) -> str:
    """A model in which two others are nested."""
    rng = random.Random(seed)
    return sdf(model(_pose(rng, []) + _Content(rng, 2).text, "top"))


class _Content:
    """What is inside a model, and the names of its links and frames."""

    def __init__(self, rng: random.Random, depth: int) -> None:
        self._rng = rng
        self._depth = depth
        self._parts: list[str] = []
        self.links: list[str] = []
        self.frames = ["__model__"]
        if depth:
            self._nest()
        for k in range(rng.randint(1, 4)):
            self._link(k)
        if depth and rng.random() < 0.7:
            self._joint(f"n{depth}", "revolute", f"m{depth}::l0")
        for k in range(rng.randint(0, 3)):
            name = f"f{depth}{k}"
            attached = f' attached_to="{rng.choice(self.links)}"' if rng.random() < 0.6 else ""
            self._parts.append(f'<frame name="{name}"{attached}>{_pose(rng, self.frames)}</frame>')
            self.frames.append(name)
        rng.shuffle(self._parts)
        self.text = "".join(self._parts)

    def _nest(self) -> None:
        name, inner = f"m{self._depth}", _Content(self._rng, self._depth - 1)
        placed = f' placement_frame="{self._rng.choice(inner.links)}"' if self._rng.random() < 0.4 else ""
        self._parts.append(model(_pose(self._rng, []) + inner.text, name, placed))
        self.frames += [name, *(f"{name}::{frame}" for frame in inner.frames[1:])]

    def _link(self, k: int) -> None:
        rng, name = self._rng, f"l{k}"
        own = inertial(round(rng.uniform(0.5, 2.0), 3), _numbers(rng, 6))
        self._parts.append(f'<link name="{name}">{_pose(rng, self.frames)}{own}</link>')
        self.frames.append(name)
        if self.links and rng.random() < 0.85:
            self._joint(f"j{k}", rng.choice(_TYPES), name)
        self.links.append(name)

    def _joint(self, name: str, type_: str, child: str) -> None:
        rng = self._rng
        ends = f"<parent>{rng.choice(self.links)}</parent><child>{child}</child>"
        pose = _pose(rng, self.frames)
        self._parts.append(f'<joint name="{name}" type="{type_}">{ends}{pose}{self._axes(type_)}</joint>')
        self.frames.append(name)

    def _axes(self, type_: str) -> str:
        rng = self._rng
        base = f' expressed_in="{rng.choice(self.frames)}"' if rng.random() < 0.5 else ""
        if type_ == "universal":  # Drake reads those whose axes are perpendicular
            Q, _ = np.linalg.qr(np.array([[rng.gauss(0.0, 1.0) for _ in range(3)] for _ in range(3)]))
            axes = zip(("axis", "axis2"), Q.T, strict=False)
            return "".join(f"<{tag}><xyz{base}>{' '.join(map(str, xyz))}</xyz></{tag}>" for tag, xyz in axes)
        pitch = f"<screw_thread_pitch>{rng.uniform(-1.0, 1.0)}</screw_thread_pitch>" if type_ == "screw" else ""
        return "" if type_ in ("ball", "fixed") else f"<axis><xyz{base}>{_numbers(rng, 3)}</xyz></axis>{pitch}"


def _pose(rng: random.Random, frames: list[str]) -> str:
    base = f' relative_to="{rng.choice(frames)}"' if frames and rng.random() < 0.6 else ""
    form = rng.random()
    if form < 0.15:
        return ""
    if form < 0.3:
        quaternion = np.array([rng.gauss(0.0, 1.0) for _ in range(4)])
        numbers = " ".join(map(str, quaternion / np.linalg.norm(quaternion)))
        return f'<pose rotation_format="quat_xyzw"{base}>{_numbers(rng, 3)} {numbers}</pose>'
    if form < 0.45:
        return f'<pose degrees="true"{base}>{_numbers(rng, 3)} {_numbers(rng, 3, 180.0)}</pose>'
    return f"<pose{base}>{_numbers(rng, 6, 2.0)}</pose>"


def _numbers(rng: random.Random, count: int, size: float = 1.0) -> str:
    return " ".join(f"{rng.uniform(-size, size):.6f}" for _ in range(count))
