"""A robot written as MJCF, in MuJoCo: M(q) and the bias forces of the file beside those of the robot and of the file
that it was read from.

Only MuJoCo's documented coordinates are used here, none of kinetree's tables of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as etree

import mujoco
import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.io.texts import written
from kinetree.model import Joint

__all__ = ["Errors", "Trip", "trip"]

Array = NDArray[np.float64]


class Errors(NamedTuple):
    """The worst errors of M(q) and of the bias forces, each entry relative to the inertias of its joints.

    A joint that moves no inertia counts with the largest.
    """

    mass_matrix: float
    bias: float


class Trip(NamedTuple):
    """What became of a robot as MJCF."""

    beside_robot: Errors | None = None
    """MuJoCo with the file that was written beside kinetree with the robot."""
    beside_original: Errors | None = None
    """MuJoCo with the file that was written beside MuJoCo with the robot's own file."""
    reason: str = ""
    """Why one of them is missing or not equal."""
    bare: bool = False
    """Whether the file was given to MuJoCo without its shapes."""
    losses: tuple[str, ...] = ()
    """What MJCF has no place for."""


class _Loaded:
    """A file in MuJoCo, which a robot's coordinates move."""

    def __init__(self, model: Any, robot: kt.Model) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self._places: list[tuple[Joint, list[tuple[int, int]]]] = []
        found = 0
        for joint in robot.joints.values():
            names = [joint.name] if joint.kind.nq in (1, 4, 7) else [f"{joint.name}.{x}" for x in joint.kind.q_names]
            ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]
            if -1 in ids:
                raise KeyError(f"no joint {names[ids.index(-1)]!r}")
            self._places.append((joint, [(int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])) for k in ids]))
            found += len(ids)
        if found != model.njnt:
            raise KeyError(f"{model.njnt} joints instead of {found}")

    def equations(self, robot: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
        """M and the bias forces in the robot's own coordinates."""
        model, data = self.model, self.data
        P = np.zeros((model.nv, robot.nv))
        rest = np.zeros(model.nv)
        """MuJoCo's accelerations where kinetree's are zero."""
        for joint, places in self._places:
            value, G = _coordinates(robot, joint, q)
            rates = G @ v
            if joint.kind.nq == 7:
                (a, b), (p, (x, y, z, w)) = places[0], (value[:3], value[3:])
                R = _rotation(x, y, z, w)
                is_free = isinstance(joint.kind, kt.Free)
                data.qpos[a : a + 7] = *p, w, x, y, z
                P[b : b + 3] = R @ G[:3] if is_free else G[:3]
                P[b + 3 : b + 6] = G[3:]
                if is_free:
                    rest[b : b + 3] = R @ np.cross(rates[3:], rates[:3])
            elif joint.kind.nq == 4:
                (a, b), (x, y, z, w) = places[0], value
                data.qpos[a : a + 4] = w, x, y, z
                P[b : b + 3] = G
            else:
                for k, (a, b) in enumerate(places):
                    data.qpos[a] = value[k]
                    P[b] = G[k]
        data.qvel[:] = P @ v
        M, bias = _computed(model, data)
        return P.T @ M @ P, P.T @ (M @ rest + bias)


def _coordinates(robot: kt.Model, joint: Joint, q: Array) -> tuple[Array, Array]:
    """A joint's coordinates, and its velocities as a matrix times the robot's."""
    if joint.mimic is not None:
        value, G = _coordinates(robot, robot.joints[joint.mimic.joint], q)
        return joint.mimic.multiplier * value + joint.mimic.offset, joint.mimic.multiplier * G
    return q[joint.q_slice], np.eye(robot.nv)[joint.v_slice]


def _rotation(x: float, y: float, z: float, w: float) -> Array:
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, np.array([w, x, y, z]))
    return R.reshape(3, 3)


def _computed(model: Any, data: Any) -> tuple[Array, Array]:
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    M = np.zeros((model.nv, model.nv))
    if model.nv:
        mujoco.mj_fullM(model, data, M)
    return M, np.array(data.qfrc_bias)


def trip(robot: kt.Model, original: Path | None = None, *, samples: int = 3) -> Trip:
    """Write a robot as MJCF, losses accepted, and compare it in MuJoCo with the robot and with its own file."""
    text, losses = written(robot, "mjcf")
    if losses.impossible:
        return Trip(reason=f"kinetree refuses to write it: {'; '.join(losses.impossible)}")
    return _in_mujoco(robot, text, original, samples)._replace(losses=tuple(losses.lost))


def _in_mujoco(robot: kt.Model, text: str, original: Path | None, samples: int) -> Trip:
    bare = False
    try:
        model = mujoco.MjModel.from_xml_string(_with_absolute_paths(text, original))
    except ValueError as error:
        refusal, bare = str(error).partition("\n")[0], True
        try:
            model = mujoco.MjModel.from_xml_string(_without_shapes(text))
        except ValueError as again:
            return Trip(reason=f"MuJoCo refuses what was written: {' '.join(str(again).split())}")
        reason = f"with its shapes MuJoCo refuses it: {refusal}"
    else:
        reason = ""
    loaded = _Loaded(model, robot)
    states = [*_states(robot, samples)]
    ours = [_of_robot(robot, q, v) for q, v in states]
    theirs = [loaded.equations(robot, q, v) for q, v in states]
    beside_robot = _worst(ours, theirs)
    if original is None:
        return Trip(beside_robot, None, reason, bare)
    try:
        first = _original(original)
    except ValueError as error:
        why = f"MuJoCo refuses the original: {' '.join(str(error).split())}"
        return Trip(beside_robot, None, "; ".join(filter(None, [reason, why])), bare)
    try:
        if original.suffix == ".urdf":
            before = _Loaded(first, robot)
            return Trip(beside_robot, _worst([before.equations(robot, q, v) for q, v in states], theirs), reason, bare)
        return Trip(beside_robot, _between_files(first, model, samples), reason, bare)
    except KeyError as error:
        why = f"the original in MuJoCo has {error.args[0]}"
        return Trip(beside_robot, None, "; ".join(filter(None, [reason, why])), bare)


def _between_files(first: Any, second: Any, samples: int) -> Errors:
    """Two files whose coordinates are the same numbers in the same order."""
    if (first.nq, first.nv) != (second.nq, second.nv):
        raise KeyError(f"{first.nv} degrees of freedom instead of {second.nv}")
    rng, pairs = np.random.default_rng(2), []
    for _ in range(samples):
        q, v = rng.uniform(-2.0, 2.0, first.nq), rng.normal(size=first.nv)
        mujoco.mj_normalizeQuat(first, q)
        found = []
        for model in (first, second):
            data = mujoco.MjData(model)
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
            data.qpos[:], data.qvel[:] = q, v
            found.append(_computed(model, data))
        pairs.append(found)
    return _worst([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _states(robot: kt.Model, samples: int) -> Iterator[tuple[Array, Array]]:
    rng = np.random.default_rng(1)
    for _ in range(samples):
        yield np.asarray(robot.random(rng)), rng.normal(size=robot.nv)


def _of_robot(robot: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """kinetree's own, of the algorithms on floats: nothing is compiled."""

    def run(function: Callable[..., Any], *arguments: Array) -> Array:
        values = on_numbers(function.definition, robot, [x.tolist() for x in arguments])  # type: ignore[attr-defined]
        return np.array(values, dtype=np.float64)

    return run(kt.crba, q).reshape(robot.nv, robot.nv), run(kt.rnea, q, v, np.zeros(robot.nv))


def _worst(some: list[tuple[Array, Array]], others: list[tuple[Array, Array]]) -> Errors:
    of_matrix, of_bias = 0.0, 0.0
    for (M, h), (N, k) in zip(some, others, strict=True):
        if not M.size:
            continue
        own = np.diag(M)
        unit = np.sqrt(np.where(own > 1e-12 * own.max(), own, own.max()))
        of_matrix = max(of_matrix, float(np.abs((M - N) / np.outer(unit, unit)).max()))
        h, k = h / unit, k / unit
        of_bias = max(of_bias, float(np.abs(h - k).max() / max(np.abs(h).max(), unit.max())))
    return Errors(of_matrix, of_bias)


def _original(path: Path) -> Any:
    """MuJoCo's reading of a file; a URDF file is given without its shapes."""
    if path.suffix != ".urdf":
        return mujoco.MjModel.from_xml_path(str(path))
    text = path.read_text(encoding="utf-8")
    root = etree.fromstring(re.sub(r"(?<=[<\s/])[A-Za-z]\w*:(?=\w)", "", text.strip()))
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    return mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))


def _with_absolute_paths(text: str, original: Path | None) -> str:
    """Addresses of meshes are relative to the robot's own file."""
    if original is None:
        return text
    folder = original.resolve().parent
    return re.sub(r'(?<= file=")([^"]+)(?=")', lambda found: str(folder / found[1]), text)


def _without_shapes(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not re.match(r"\s*<(geom|mesh|hfield|pair) ", line))
