"""One robot file in kinetree and in MuJoCo, at random states: what each computes of the same forward dynamics.

kinetree's algorithms run on plain numbers, without being compiled. MuJoCo's solver runs to its end: tolerance 0, 200
iterations. Contacts are compared twice: from the points that MuJoCo finds, then from kinetree's own, in those states in
which all points come from MuJoCo's analytic colliders.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kinetree as kt
from forward_state import Array, Motion, State, Touching, add_wrench
from kinetree import algorithms
from kinetree.algorithms.convex_dynamics import Effort
from kinetree.algorithms.soft_rows import Sight, seen
from kinetree.collision import ContactPoint, Hull
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model import SoftConstraints, TouchingShape, TouchSpec
from kinetree.functions.contact_options import soft, soft_of, touching_blocks, touching_points
from kinetree.functions.sensor_choice import chosen_sensors, computed_sensors
from kinetree.spatial import Transform, Vec3

__all__ = ["Beside", "NotHereError"]

Pair = frozenset[int]

_EFFORT = Effort(iterations=20, line_search=16, tolerance=1e-13)
_ANALYTIC = {
    frozenset(int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")) for kind in (a, b))
    for a, others in {
        "PLANE": ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX"),
        "SPHERE": ("SPHERE", "CAPSULE", "CYLINDER", "BOX"),
        "CAPSULE": ("CAPSULE", "BOX"),
        "BOX": ("BOX",),
    }.items()
    for b in others
}
"""The pairs of shapes for which MuJoCo has formulas; others are found by iterations."""
_PLANE_AND_MESH = frozenset((int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_MESH)))
_BAD = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{what}")) for what in ("QPOS", "QVEL", "QACC")]


class NotHereError(Exception):
    """MuJoCo has a contact of two shapes that do not touch here."""


class Beside:
    """A file in both."""

    def __init__(self, path: Path, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)
            self.robot = kt.load(path, package_roots=[folder])
        self.model = m = mujoco.MjModel.from_xml_path(str(path))
        self._quickly = m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations
        m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        m.opt.noslip_iterations = 0
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        for one in (m.body_sameframe, m.geom_sameframe, m.site_sameframe):  # frames that are the same to 1e-6 only
            one[:] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
        self.layout = kt.interop.Layout(self.robot, "mujoco")
        self.soft: SoftConstraints = soft_of(self.robot)

    @cached_property
    def bodies(self) -> dict[str, int]:
        """MuJoCo's number of each body; those between several joints of a body are not there."""
        own = {self.model.body(k).name for k in range(self.model.nbody)}
        between = {joint.child for joint in self.robot.joints.values() if ":" in joint.child} - own
        names = [name for name in self.robot.bodies if name not in between]
        if len(names) != self.model.nbody:
            raise ValueError(f"{len(names)} bodies, where MuJoCo has {self.model.nbody}")
        return {name: k for k, name in enumerate(names)}

    @cached_property
    def shapes(self) -> dict[str, int]:
        """MuJoCo's number of each shape, by the name that contacts give it."""
        found: dict[str, int] = {}
        for name, k in self.bodies.items():
            own = self.robot.bodies[name].geometry
            if len(own) != self.model.body_geomnum[k]:
                raise ValueError(f"{len(own)} shapes of {name}, where MuJoCo has {self.model.body_geomnum[k]}")
            for i, shape in enumerate(own):
                found[shape.name or f"{name}[{i}]"] = int(self.model.body_geomadr[k]) + i
        return found

    @cached_property
    def touches(self) -> dict[Pair, TouchSpec]:
        """The pairs of shapes that may touch here."""
        return {frozenset(self._numbers(touch)): touch for touch in self.soft.touches}

    def _numbers(self, touch: TouchSpec) -> tuple[int, int]:
        return self.shapes[touch.first.name], self.shapes[touch.second.name]

    # -- states

    def states(self, count: int) -> list[State]:
        """Random states: every other one some time after a fall, so that things touch."""
        m, d, rng = self.model, mujoco.MjData(self.model), np.random.default_rng(17)
        found = []
        for k in range(count):
            self._begin(d, rng, k)
            if k % 2:
                self._effort(self._quickly)
                mujoco.mj_step(m, d, int(rng.integers(20, 200)))
                if not np.isfinite(d.qacc).all() or max(d.warning[k].number for k in _BAD):
                    self._begin(d, rng, k)
            self._command(d, rng)
            self._forward(d)
            found.append(self._state(d))
        return found

    def around(self, state: State, count: int = 32, radius: float = 1e-12) -> Iterator[tuple[Array, Array]]:
        """MuJoCo's accelerations and sensors at states that are hardly different."""
        m, d, rng = self.model, mujoco.MjData(self.model), np.random.default_rng(5)
        for _ in range(count):
            d.qpos[:], d.ctrl[:], d.act[:] = self.layout.q_to(state.q), state.ctrl, state.act
            d.qvel[:] = self.layout.v_to(state.q, state.v)
            mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), radius)
            self._forward(d)
            yield np.asarray(self.layout.qdd_from(d.qpos, d.qvel, d.qacc)), d.sensordata.copy()

    def _forward(self, d: Any) -> None:
        self._effort((0.0, 200, 1e-10, 100))
        d.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.model, d)

    def _effort(self, wanted: tuple[float, int, float, int]) -> None:
        opt = self.model.opt
        opt.tolerance, opt.iterations, opt.ls_tolerance, opt.ls_iterations = wanted

    def _begin(self, d: Any, rng: np.random.Generator, k: int) -> None:
        m = self.model
        mujoco.mj_resetData(m, d)
        if m.nkey and k % 4 >= 2:
            mujoco.mj_resetDataKeyframe(m, d, int(rng.integers(m.nkey)))
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.1 if k % 2 else 0.3)
        d.qvel[:] = rng.normal(size=m.nv)
        self._command(d, rng)

    def _command(self, d: Any, rng: np.random.Generator) -> None:
        m = self.model
        low, high = np.where(m.actuator_ctrllimited[:, None].astype(bool), m.actuator_ctrlrange, [-1.0, 1.0]).T
        d.ctrl[:] = low + (high - low) * rng.uniform(-0.1, 1.1, m.nu)
        d.act[:] = rng.uniform(0.0, 1.0, m.na)

    def _state(self, d: Any) -> State:
        layout, m = self.layout, self.model

        def forces(x: Array) -> Array:
            return np.asarray(layout.tau_from(d.qpos, x))

        points: list[tuple[int, int, ContactPoint]] = []
        wrenches: dict[tuple[int, int], Array] = {}
        for k in range(d.ncon):
            one = d.contact[k]
            if one.efc_address < 0:
                continue
            frame = one.frame.reshape(3, 3)
            place = ContactPoint(float(one.dist), Vec3(*one.pos.tolist()), Vec3(*frame[0]), Vec3(*frame[1]))
            i, j = (int(x) for x in one.geom)
            points.append((i, j, place))
            local = np.zeros(6)
            mujoco.mj_contactForce(m, d, k, local)
            force = frame.T @ local[:3]
            both = np.concatenate([force, frame.T @ local[3:] + np.cross(one.pos, force)])
            add_wrench(wrenches, (m.geom_bodyid[i], m.geom_bodyid[j]), both)
        return State(
            np.asarray(layout.q_from(d.qpos)),
            np.asarray(layout.v_from(d.qpos, d.qvel)),
            d.ctrl.copy(),
            d.act.copy(),
            np.asarray(layout.qdd_from(d.qpos, d.qvel, d.qacc)),
            forces(d.qfrc_passive),
            d.actuator_force.copy(),
            forces(d.qfrc_actuator),
            forces(d.qfrc_smooth),
            forces(d.qfrc_constraint),
            d.sensordata.copy(),
            float(d.time),
            tuple(points),
            wrenches,
            all(self._is_exact(i, j) for i, j, _ in points),
        )

    def _is_exact(self, i: int, j: int) -> bool:
        """Whether two shapes touch in the same points: by formulas, or a plane and a mesh whose hull is whole."""
        touch = self.touches.get(frozenset((i, j)))
        kinds = frozenset(int(self.model.geom_type[k]) for k in (i, j))
        is_whole = touch is not None and isinstance(touch.second.shape, Hull) and bool(touch.second.shape.faces)
        return kinds in _ANALYTIC or (kinds == _PLANE_AND_MESH and is_whole)

    # -- what kinetree has

    def actuators(self, states: Sequence[State]) -> tuple[Array, Array]:
        """The force of each actuator, and their joint forces."""
        nu, nv = self.model.nu, self.robot.nv
        if not nu:
            return np.zeros((len(states), 0)), np.zeros((len(states), nv))
        found = self._on_all(kt.dynamics.actuator_forces, states, "q", "v", "ctrl", "act")
        return found[:, :nu], found[:, nu : nu + nv]

    def passive(self, states: Sequence[State]) -> Array:
        """Joint forces of springs and dampers, of tendons, of the medium, and of what carries weights."""
        own = self._on_all(kt.dynamics.passive_forces, states, "q", "v", passive=self._springs_and_dampers())
        tendons = self._on_all(kt.dynamics.tendon_forces, states, "q", "v")
        fluid = self._on_all(kt.dynamics.fluid_forces, states, "q", "v")
        return own + tendons + fluid + self._on_all(kt.dynamics.gravity_compensation, states, "q", part="passive")

    def _springs_and_dampers(self) -> list[str]:
        options = self.robot.extras.options
        flags = {"damping": options is None or options.flags.damper, "spring": options is None or options.flags.spring}
        return [name for name, is_on in flags.items() if is_on]

    def sensors(self, states: Sequence[State], qdd: Array) -> dict[int, Array]:
        """The numbers of those sensors that are computed, by their places among MuJoCo's."""
        definition = kt.dynamics.sensors.definition  # type: ignore[attr-defined]
        found: dict[int, Array] = {}
        for counts in (False, True):
            chosen = [k for k, needs in computed_sensors(self.robot).items() if needs is counts]
            if not chosen:
                continue
            choice, rows = chosen_sensors(self.robot, chosen), []
            is_driven = bool(choice.actuation.actuators)
            for state, a in zip(states, qdd, strict=True):
                options: dict[str, Any] = {"names": choice}
                if counts:
                    tree = self.robot.tree
                    sight = seen(tree, tree.split(state.q.tolist(), "nq"), tree.split(state.v.tolist(), "nv"))
                    options["contact"] = replace(self.soft, touches=tuple(self.near(sight)), unsupported=())
                driven = (state.ctrl.tolist(), state.act.tolist()) if is_driven else ([], [])
                time = [state.time] if choice.has_clock else []
                given = [*(x.tolist() for x in (state.q, state.v, a)), *driven, time]
                rows.append(on_numbers(definition, self.robot, given, **options))
            numbers, start = np.array(rows), 0
            for k in chosen:
                size = int(self.model.sensor_dim[k])
                found[k] = numbers[:, start : start + size]
                start += size
        return found

    def counts_contacts(self, sensor: int) -> bool:
        return computed_sensors(self.robot)[sensor]

    def motions(self, state: State, tau: Array) -> Callable[[bool, Array | None], Motion]:
        """Accelerations and what pushes, under joint forces tau.

        They are a function of whether contact points are its own, and of a guess.
        """
        tree = self.robot.tree
        q, v, split = tree.split(state.q.tolist(), "nq"), tree.split(state.v.tolist(), "nv"), tree.split(tau, "forces")
        sight = seen(tree, q, v)
        rows = soft(self.robot, replace(self.soft, touches=()), ("friction",))
        assert rows is not None
        others, _ = rows(tree, q, v, 0.0)

        def motion(own_points: bool, guess: Array | None) -> Motion:
            places, touching = [], []
            for touch, point in self._own_points(sight) if own_points else self._their_points(state):
                touching += touching_blocks(self.robot, self.soft, touch, sight, [point])
                one, other = (int(self.model.geom_bodyid[x]) for x in self._numbers(touch))
                places.append((point, (one, other)))
            blocks = others + touching
            start = None if guess is None else guess.tolist()
            solved = algorithms.contact_dynamics(tree, q, v, split, blocks, guess=start, effort=_EFFORT)
            forces = solved.forces[len(others) :]
            contacts = [Touching(*x, block, f) for x, block, f in zip(places, touching, forces, strict=True)]
            return Motion(np.array(solved.acceleration), np.array(solved.push(blocks)), blocks, contacts)

        return motion

    def _their_points(self, state: State) -> Iterator[tuple[TouchSpec, ContactPoint]]:
        """MuJoCo's own."""
        for i, j, point in state.points:
            touch = self.touches.get(frozenset((i, j)))
            if touch is None:
                names = " and ".join(name for name, k in self.shapes.items() if k in (i, j))
                raise NotHereError(names)
            yield touch, point if self._numbers(touch) == (i, j) else point.flipped()

    def _own_points(self, sight: Sight) -> Iterator[tuple[TouchSpec, ContactPoint]]:
        for touch in self.near(sight):
            for point in touching_points(self.robot, touch, sight):
                if float(point.distance) < float(touch.margin):
                    yield touch, point

    def near(self, sight: Sight) -> list[TouchSpec]:
        """The pairs with formulas of which balls around the shapes are not further apart than contacts reach."""
        places = {}
        for touch in self.soft.touches:
            for side in (touch.first, touch.second):
                if side.name not in places:
                    places[side.name] = np.array(self._placed(side, sight).r.components())
        found = []
        for touch, radius in self._analytic:
            apart = places[touch.second.name] - places[touch.first.name]
            if touch.first.shape.kind == "plane":
                normal = np.array(self._placed(touch.first, sight).E.z.components())
                is_near = normal @ apart <= radius
            else:
                is_near = math.isinf(radius) or apart @ apart <= radius * radius
            if is_near:
                found.append(touch)
        return found

    @cached_property
    def _analytic(self) -> list[tuple[TouchSpec, float]]:
        """The pairs for which MuJoCo has formulas, and how far their origins are at most if they touch."""
        found = []
        for touch in self.soft.touches:
            if self._is_exact(*self._numbers(touch)):
                first = 0.0 if touch.first.shape.kind == "plane" else _radius(touch.first.shape)
                found.append((touch, first + _radius(touch.second.shape) + float(touch.selection)))
        return found

    def _placed(self, side: TouchingShape, sight: Sight) -> Transform:
        if side.body is None:
            return side.placement
        body = self.robot.bodies[side.body]
        return side.placement @ body.placement @ sight.X_0[body.slot]

    def _on_all(self, function: Callable[..., Any], states: Sequence[State], *names: str, **options: Any) -> Array:
        """A function on all states at once, each number an array."""
        definition = function.definition  # type: ignore[attr-defined]
        given = [list(np.array([getattr(state, name) for state in states]).T) for name in names]
        found = on_numbers(definition, self.robot, given, **options)
        return np.array([np.broadcast_to(x, len(states)) for x in found]).reshape(len(found), len(states)).T


def _radius(shape: Any) -> float:
    """The radius of a ball about the shape's origin that holds it."""
    match shape.kind:
        case "sphere":
            return float(shape.radius)
        case "capsule":
            return float(shape.radius + shape.half_length)
        case "cylinder":
            return math.hypot(shape.radius, shape.half_length)
        case "ellipsoid":
            return float(max(shape.x, shape.y, shape.z))
        case "box":
            return math.hypot(shape.x, shape.y, shape.z)
        case "hull":
            return float(np.linalg.norm(shape.vertices, axis=1).max())
    return math.inf
