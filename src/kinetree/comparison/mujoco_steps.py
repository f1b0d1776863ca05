"""MuJoCo at the states of a motion of kinetree: every term of its forward dynamics, in kinetree's coordinates."""

from __future__ import annotations

import importlib
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.comparison.engine import UnreadableError, first_line
from kinetree.comparison.rows import KINDS, Rows
from kinetree.comparison.side import Array
from kinetree.errors import ModelWarning
from kinetree.functions.contact_options import soft_of
from kinetree.io.load import load
from kinetree.io.save import save
from kinetree.layouts import Layout
from kinetree.model import Model, ModelBuilder
from kinetree.model.extras import ContactExclusion

__all__ = ["MujocoSteps", "Terms"]

_INTEGRATORS = {
    "symplectic_euler": "EULER",
    "semi_implicit_euler": "EULER",
    "implicitfast": "IMPLICITFAST",
    "rk4": "RK4",
}


class Terms(NamedTuple):
    """MuJoCo's terms in one state."""

    mass_matrix: Array
    bias: Array
    passive: Array
    rows: Rows
    qdd: Array
    after: Array
    """[q, v] after its own step, in kinetree's layout."""
    touching: list[str]
    """The pairs of shapes of its contacts."""


class MujocoSteps:
    """A robot in MuJoCo: its own file if it is an MJCF file, else one that kinetree writes."""

    def __init__(self, robot: Model, dt: float, integrator: str, off: Sequence[str]) -> None:
        self.notes: list[str] = []
        self._mujoco: Any = importlib.import_module("mujoco")
        self.model: Any
        self.robot: Model
        self.model, self.robot = self._read(robot)
        m, mujoco = self.model, self._mujoco
        self.title: str = f"mujoco {mujoco.__version__}"
        m.opt.timestep = dt
        m.opt.tolerance, m.opt.iterations = 0.0, 200
        m.opt.ls_tolerance, m.opt.ls_iterations = 1e-10, 100
        m.opt.solver, m.opt.jacobian = mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtJacobian.mjJAC_DENSE
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        for flag in off:
            m.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        if m.nu:
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
            self.notes.append("actuators act on neither side")
        kind = getattr(mujoco.mjtIntegrator, f"mjINT_{_INTEGRATORS.get(integrator, '')}", None)
        self._integrator = kind
        brakes = mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        m.opt.disableflags = (m.opt.disableflags & ~int(brakes)) | int(
            brakes if integrator == "symplectic_euler" else 0
        )
        if kind is None:
            self.notes.append(
                f"mujoco has no integrator with the numbers of {integrator!r}, so states after a step are not compared"
            )
        self._data, self._layout = mujoco.MjData(m), Layout(self.robot, "mujoco")

    def _read(self, robot: Model) -> tuple[Any, Model]:
        read = self._mujoco.MjModel.from_xml_path
        if robot.source.endswith((".xml", ".mjcf")) and Path(robot.source).is_file() and _is_its_file(robot):
            self.notes.append(f"mujoco reads {Path(robot.source).name} itself")
            return read(robot.source), robot
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.xml"
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ModelWarning)
                save(_with_exclusions(robot), path, lossy=True)
            self.notes.append("mujoco reads the robot as kinetree writes it in MJCF, with the same pairs of bodies")
            self.notes += [str(one.message) for one in caught if issubclass(one.category, ModelWarning)]
            try:
                return read(str(path)), robot
            except ValueError as error:
                raise UnreadableError(f"mujoco cannot read {robot.name!r} as MJCF: {first_line(error)}") from None

    def along(self, q: Array, v: Array, tau: Array) -> Iterator[Terms]:
        """The terms in each of the states q (T, nq), v (T, nv) under joint forces (T, nv)."""
        layout, nv = self._layout, self.robot.nv
        their_q, their_v, their_tau = layout.q_to(q), layout.v_to(q, v), layout.tau_to(q, tau)
        turns = np.moveaxis(layout.v_to(q[:, None, :], np.eye(nv)), -1, -2)  # their v is B times ours
        drifts = layout.qdd_to(q, v, np.zeros_like(v))
        for state in zip(their_q, their_v, their_tau, turns, drifts, strict=True):
            yield self._terms(*state)

    def _terms(self, q: Array, v: Array, tau: Array, B: Array, drift: Array) -> Terms:
        mujoco, m, d, layout = self._mujoco, self.model, self._data, self._layout
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER  # rows of the state itself, with any integrator
        mujoco.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        J = np.array(d.efc_J).reshape(d.nefc, m.nv)
        rows = Rows(self._kinds(), J @ B, np.array(d.efc_aref) - J @ drift, np.array(d.efc_R))
        terms = (B.T @ M @ B, B.T @ (d.qfrc_bias + M @ drift), B.T @ d.qfrc_passive, rows)
        qdd, touching = layout.qdd_from(q, v, d.qacc), [self._pair(k) for k in range(d.ncon)]
        after = np.empty(0)
        if self._integrator is not None:
            m.opt.integrator = self._integrator
            mujoco.mj_step(m, d)
            after = np.concatenate([layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)])
        return Terms(*terms, qdd, after, touching)

    def _kinds(self) -> list[str]:
        types = self._mujoco.mjtConstraint
        both_ways = {int(types.mjCNSTR_EQUALITY): KINDS[0]}
        both_ways |= {int(types.mjCNSTR_FRICTION_DOF): KINDS[1], int(types.mjCNSTR_FRICTION_TENDON): KINDS[1]}
        return [both_ways.get(int(kind), KINDS[2]) for kind in self._data.efc_type]

    def _pair(self, k: int) -> str:
        names = [self.model.geom(int(g)).name or f"shape {int(g)}" for g in self._data.contact[k].geom]
        return f"{names[0]!r} and {names[1]!r}"


def _with_exclusions(robot: Model) -> Model:
    """The robot, whose file need not say which bodies are neighbours, with all pairs excluded that touch nothing."""
    touching = {frozenset((touch.first.body, touch.second.body)) for touch in soft_of(robot).touches}
    shaped = [body.name for body in robot.bodies.values() if body.geometry]
    excluded = {frozenset((exclusion.body1, exclusion.body2)) for exclusion in robot.extras.contact_exclusions}
    more = [
        ContactExclusion(a, b)
        for a, b in combinations(shaped, 2)
        if frozenset((a, b)) not in touching | excluded and robot.bodies[a].slot != robot.bodies[b].slot
    ]
    builder = ModelBuilder.of(robot)
    builder.extras = replace(builder.extras, contact_exclusions=(*builder.extras.contact_exclusions, *more))
    return builder.build()


def _is_its_file(robot: Model) -> bool:
    """Whether a robot is as in its file, without changes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return bool(load(robot.source) == robot)
    except Exception:  # it was loaded with settings of its own
        return False
