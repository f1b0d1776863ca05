"""MuJoCo as a side of a comparison: smooth dynamics, without contacts, constraints, friction and springs."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kinetree.comparison.engine import Engine, Places, Raw, UnreadableError, first_line
from kinetree.comparison.side import FIXED, Array, SeenBody, SeenJoint, Solid
from kinetree.comparison.source import MOVING_WORLD, Source, without_shapes
from kinetree.errors import listed

__all__ = ["MujocoSide"]

_BOUNDS = {"boundmass": "1e-6", "boundinertia": "1e-9"}
_REPAIRS = ({"balanceinertia": "true"}, _BOUNDS, {"balanceinertia": "true", **_BOUNDS})
"""Settings with which a URDF file is tried that MuJoCo rejects as it is."""
_AXES, _PRODUCTS = 3e-6, 3e-12
"""Remainders of its search for principal axes: it stops at rotations by 1.4e-6 rad, and at products of 1e-12 kg·m²."""
_OFF = ("CONTACT", "CONSTRAINT", "LIMIT", "FRICTIONLOSS", "DAMPER", "SPRING", "ACTUATION", "EQUALITY")
_KINDS: tuple[tuple[str, ...], ...] = (
    ("free", "floatingbase"), ("spherical",), ("prismatic",), ("revolute", "continuous"),
)  # fmt: skip
_SIZES = ((7, 6), (4, 3), (1, 1), (1, 1))


class MujocoSide(Engine):
    """A file as MuJoCo reads it; a URDF file without its shapes."""

    library = "mujoco"

    def __init__(self, source: Source) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        self._mujoco = mujoco
        self.name = "mujoco"
        self.title: str = f"mujoco {mujoco.__version__}"
        self.notes: list[str] = []
        self.remarks: dict[str, str] = {}
        self.repairs: dict[str, str] = {}
        with _warnings_kept(mujoco) as warnings:
            self.model: Any = self._read(source)
        self.notes += [f"mujoco warns: {first_line(text)}" for text in warnings]
        for flag in _OFF:
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
        if source.format == "URDF":
            self.model.opt.gravity[:] = source.robot.gravity
            self.drops_fixed = True
        is_off = self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        x, y, z = (0.0, 0.0, 0.0) if is_off else self.model.opt.gravity.tolist()
        self.gravity: tuple[float, float, float] = (x, y, z)
        self.data: Any = mujoco.MjData(self.model)
        self._describe(source)

    def _read(self, source: Source) -> Any:
        read = self._mujoco.MjModel
        if source.format == "MJCF":
            return read.from_xml_path(str(source.file))
        if source.format != "URDF":
            raise UnreadableError("it reads MJCF and URDF")
        robot = source.robot

        def text(settings: dict[str, str]) -> str:
            return without_shapes(source.file, settings, robot.floating_base, source.root_joint if robot.nv else "")

        self.notes.append("mujoco was given the file without its shapes")
        try:
            return read.from_xml_string(text({}))
        except ValueError as error:
            refusal = first_line(error)
        for settings in _REPAIRS:
            try:
                model = read.from_xml_string(text(settings))
            except ValueError:
                continue
            self.repairs = settings
            words = " ".join(f'{name}="{value}"' for name, value in settings.items())
            self.notes.append(f"mujoco refuses the file as it is ({refusal}); it was read with {words}")
            return model
        raise UnreadableError(f"{refusal}, with or without balanceinertia, boundmass and boundinertia")

    def _describe(self, source: Source) -> None:
        m, ours = self.model, source.robot.joints
        names = [m.body(k).name or f"body{k}" for k in range(m.nbody)]
        if MOVING_WORLD in names:
            names[names.index(MOVING_WORLD)], names[0] = "world", "the world"
        local = [_placement(m.body_pos[k], m.body_quat[k]) for k in range(m.nbody)]
        welded_to = [int(k) for k in m.body_weldid]

        moved_from_outside = {k for k in range(m.nbody) if m.body_mocapid[k] >= 0}
        if moved_from_outside:
            moved = listed((repr(names[k]) for k in sorted(moved_from_outside)), most=3)
            self.notes.append(f"mujoco lets users move {moved} (mocap); the place in the file is taken")

        def carrier(k: int) -> str:
            return names[welded_to[k]] if welded_to[k] and welded_to[k] not in moved_from_outside else FIXED

        self._ids = {name: k for k, name in enumerate(names)}
        self.bodies: dict[str, SeenBody] = {}
        for k, name in enumerate(names):
            T, up = np.eye(4), k
            while up and (up != welded_to[k] or up in moved_from_outside):
                T, up = local[up] @ T, int(m.body_parentid[up])
            R = _rotation(m.body_iquat[k])
            own = Solid.from_center(m.body_mass[k], m.body_ipos[k].copy(), R @ np.diag(m.body_inertia[k]) @ R.T)
            self.bodies[name] = SeenBody(name, carrier(k), T, own)
        merged = {
            body.name: _mover(source, body.name) for body in source.robot.bodies.values() if body.name not in self._ids
        }
        merged = {name: into for name, into in merged.items() if into is not None}
        if merged:
            moved = listed((f"{name} into {into or 'the world'}" for name, into in merged.items()), most=3)
            what = "a fixed body" if len(merged) == 1 else f"{len(merged)} fixed bodies"
            self.notes.append(f"mujoco merged {what} into those that carry them: {moved}")
        self.joints, self.places = {}, {}
        by_child = {joint.child: name for name, joint in ours.items()}
        for j in range(m.njnt):
            body, kind = int(m.jnt_bodyid[j]), int(m.jnt_type[j])
            count, first = int(m.body_jntnum[body]), int(m.body_jntadr[body])
            last = j == first + count - 1
            name = m.joint(j).name or f"{names[body]}_joint{'' if j == first else j - first + 1}"
            child = names[body] if last else f"{names[body]}:{name}"
            if name not in ours and child in by_child:
                name = by_child[child]
            nq, nv = _SIZES[kind]
            q, v = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            self.places[name] = Places([*range(q, q + nq)], [*range(v, v + nv)])
            self.joints[name] = SeenJoint(
                name, _KINDS[kind], carrier(int(m.body_parentid[body])), child, nv, "",
                self._numbers(j, slice(v, v + nv), kind, source.format),
            )  # fmt: skip
        if m.ntendon and np.any(m.tendon_armature):
            self.remarks["mass matrix"] = "mujoco adds the armature of tendons"

    def _numbers(self, j: int, v: slice, kind: int, format: str) -> dict[str, Sequence[float] | None]:
        m = self.model
        lower, upper = m.jnt_range[j].tolist() if m.jnt_limited[j] else (-math.inf, math.inf)
        effort = float(m.jnt_actfrcrange[j][1]) if m.jnt_actfrclimited[j] else math.inf
        one = kind in (2, 3)
        numbers: dict[str, Sequence[float] | None] = {
            "lower limit": (lower,) if one else None,
            "upper limit": (upper,) if one else None,
            "effort limit": (effort,) if one and format == "URDF" else None,
            "armature": tuple(m.dof_armature[v].tolist()),
            "damping": tuple(np.ravel(m.dof_damping[v]).tolist()),
            "friction": tuple(m.dof_frictionloss[v].tolist()),
        }
        if one:
            numbers["stiffness"] = (float(np.ravel(m.jnt_stiffness[j])[0]),)
        return numbers

    def reason(self, what: str, parts: Mapping[str, Solid], ours: Solid, theirs: Solid) -> str:
        """Its repairs, and that links with inertia but no mass are dropped."""
        ghosts = [name for name, part in parts.items() if not part.mass and part.about_origin.any()]
        if self.repairs:
            massless = [name for name, part in parts.items() if not part.mass]
            if (
                "boundmass" in self.repairs
                and massless
                and math.isclose(theirs.mass - ours.mass, 1e-6 * len(massless), rel_tol=1e-3)
            ):
                return f"mujoco gave {_links(massless)}, which had no mass, 1e-6 kg: boundmass"
            if what == "inertia":
                wrong = [name for name, part in parts.items() if part.about_origin.any() and _is_impossible(part)]
                if wrong:
                    return f"mujoco changed that of {_links(wrong)}, which no body could have: balanceinertia"
                return f"mujoco changed it or that of a body merged into it: {', '.join(self.repairs)}"
        if what == "inertia" and ghosts:
            return f"mujoco drops that of {_links(ghosts)}, as there is no mass"
        off = float(np.abs(ours.inertia - theirs.inertia).max())
        if what == "inertia" and off < max(_AXES * float(np.abs(ours.inertia).max()), _PRODUCTS):
            return "no more than mujoco's search for principal axes leaves: 1.5e-6 rad, or products of 1e-12 kg·m²"
        return ""

    def reason_for_limit(self, word: str, ours: Sequence[float], theirs: float) -> str:
        lower, upper, limit = ours
        if word in ("lower limit", "upper limit") and lower == upper and math.isinf(theirs):
            return "mujoco takes equal limits for none"
        if word == "effort limit" and not limit and math.isinf(theirs):
            return "mujoco takes an effort of 0 for no limit"
        return ""

    def neutral(self) -> Array:
        return np.array(self.model.qpos0)

    def raw(self, q: Array, v: Array) -> Raw:
        mujoco, m, d = self._mujoco, self.model, self.data
        nv = m.nv

        def bias(rates: Array) -> Array:
            d.qpos[:], d.qvel[:] = q, rates
            mujoco.mj_fwdPosition(m, d)
            mujoco.mj_fwdVelocity(m, d)
            return np.array(d.qfrc_bias)

        gravity, moving = bias(np.zeros(nv)), bias(v)
        M = np.zeros((nv, nv))
        if nv:
            mujoco.mj_fullM(m, d, M)
        placements = {}
        for name, k in self._ids.items():
            placements[name] = np.eye(4)
            placements[name][:3, :3], placements[name][:3, 3] = d.xmat[k].reshape(3, 3), d.xpos[k]
        twists = {}
        for j, (name, at) in enumerate(self.places.items()):
            linear, angular = np.zeros((3, nv)), np.zeros((3, nv))
            mujoco.mj_jac(m, d, linear, angular, np.zeros(3), int(m.jnt_bodyid[j]))
            twists[name] = np.concatenate([linear[:, at.v], angular[:, at.v]])
        return Raw(placements, twists, M, moving, gravity)


@contextmanager
def _warnings_kept(mujoco: Any) -> Iterator[list[str]]:
    """Collect MuJoCo's warnings, which would otherwise go to standard error and into a file in the current folder."""
    messages: list[str] = []
    if not hasattr(mujoco, "get_mju_user_warning"):
        yield messages
        return
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        yield messages
    finally:
        mujoco.set_mju_user_warning(before)


def _links(names: Sequence[str]) -> str:
    return f"body {names[0]!r}" if len(names) == 1 else f"{len(names)} bodies ({listed(names, most=3)})"


def _is_impossible(solid: Solid) -> bool:
    """Whether no body has these principal moments."""
    a, b, c = np.linalg.eigvalsh(solid.inertia).tolist()
    return bool(a <= 0.0 or a + b < c)


def _mover(source: Source, body: str) -> str | None:
    """The body that a body is fixed to; None if a joint moves it."""
    robot = source.robot
    own = robot.bodies[body]
    moved = {joint.slot: joint.child for joint in robot.joints.values()}
    mover = moved.get(own.slot, FIXED)
    return None if mover == body else mover


def _rotation(quaternion: Array) -> Array:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _placement(position: Array, quaternion: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = _rotation(quaternion), position
    return T
