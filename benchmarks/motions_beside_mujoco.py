"""Motions of one robot file in kinetree and in MuJoCo, from the same state and with the same commands.

They are compared until MuJoCo has a contact whose points it finds by iterations. kinetree's motion is one call of
`kt.rollout`, compiled without optimisation, for the pairs of shapes that come near each other: MuJoCo says which, at
all states of its own motion, and of kinetree's if that is elsewhere. Where the two part, copies of MuJoCo's own motion
begin a little aside, and show how much of the difference is the motion's own sensitivity.
"""

from __future__ import annotations

import copy
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

import kinetree as kt
from beside_mujoco import Beside, Pair
from forward_state import Array
from kinetree.functions.actuators import actuation_of_robot

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.quick_code import quick_code

__all__ = ["ASIDE", "INTEGRATORS", "Motions", "Together"]

INTEGRATORS = {"Euler": "semi_implicit_euler", "implicitfast": "implicitfast", "RK4": "rk4"}
"""MuJoCo's names of integrators, and kinetree's."""
ASIDE = 1e-12
"""How far aside the copies begin, in q and v."""
_COPIES = 4
_HELD = 100
"""Steps between two random commands; those in between follow a straight line."""
_NEAR = 0.001
"""Shapes that come so near may touch at a stage between two states, m."""
_HUGE = 1e6
"""rad/s or m/s; motions that are faster have grown beyond bounds."""


class Together(NamedTuple):
    """Two motions."""

    apart: Array
    """The largest difference of a coordinate until each step, relative to the largest one or 1; fewer than all steps
    where MuJoCo then has a contact for which it has no formula."""
    aside: Array | None
    """The same of the copies, where the motions part."""
    touches: int
    """The number of steps with contacts."""
    unknown: str
    """Shapes that touch in MuJoCo only."""


class Theirs(NamedTuple):
    """MuJoCo's motion."""

    q: Array
    """In its own layout, after each step; NaN from where it ceases to be finite."""
    v: Array
    pairs: list[set[Pair]]
    """The shapes that touch in each step."""


class Motions(Beside):
    """A file in both, with a start and commands."""

    def __init__(self, path: Path, folder: Path, steps: int) -> None:
        super().__init__(path, folder)
        m, rng = self.model, np.random.default_rng(29)
        m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations = 0.0, 200, 1e-10, 100
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.steps = steps
        self.is_driven = bool(m.nu) and self._is_driven()
        self.without: list[str] = []
        """The names of what is switched off in MuJoCo, as kinetree has no commands for it."""
        if not self.is_driven:
            self._leave_out_what_commands_bring()
        d = mujoco.MjData(m)
        if m.nkey:
            mujoco.mj_resetDataKeyframe(m, d, 0)
        self._start = self._moved(d.qpos, np.zeros(m.nv), rng, 0.01, 0.1)
        low, high = np.where(m.actuator_ctrllimited[:, None].astype(bool), m.actuator_ctrlrange, [-1.0, 1.0]).T
        held = low + (high - low) * rng.uniform(0.0, 1.0, (steps // _HELD + 2, m.nu))
        at = np.arange(steps) / _HELD
        self.ctrl = np.array([np.interp(at, np.arange(len(held)), column) for column in held.T]).reshape(m.nu, steps).T
        mujoco.set_mjcb_contactfilter(None)
        self._wide = copy.copy(m)
        self._wide.geom_margin[:] += _NEAR
        self._wide.pair_margin[:] += _NEAR

    def _leave_out_what_commands_bring(self) -> None:
        """A rollout without commands has neither actuators nor what acts beside them."""
        m = self.model
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        numbers = {
            "the medium": (m.opt.density, m.opt.viscosity),
            "carried weights": m.body_gravcomp,
            "springs and dampers of tendons": (*m.tendon_stiffness, *m.tendon_damping),
        }
        self.without = ["actuators"] * bool(m.nu) + [name for name, given in numbers.items() if np.any(given)]
        m.opt.density = m.opt.viscosity = 0.0
        m.body_gravcomp[:] = 0.0
        m.tendon_stiffness[:], m.tendon_damping[:] = 0.0, 0.0

    def _is_driven(self) -> bool:
        try:
            actuation_of_robot(self.robot)
        except kt.errors.OptionError:  # one of them is not computed
            return False
        return True

    def _moved(self, q: Array, v: Array, rng: np.random.Generator, far: float, fast: float) -> tuple[Array, Array]:
        """A state near another one."""
        m, moved = self.model, np.array(q)
        mujoco.mj_integratePos(m, moved, rng.normal(size=m.nv), far)
        return moved, v + fast * rng.normal(size=m.nv)

    def leave_out_iterated(self) -> None:
        """Leave the pairs of shapes for which MuJoCo iterates out of its motion; kinetree's never has them."""
        exact = {pair for pair in self.touches if not self._is_iterated(pair)}
        mujoco.set_mjcb_contactfilter(lambda _m, _d, i, j: frozenset((i, j)) not in exact)
        for k, pair in enumerate(zip(self.model.pair_geom1.tolist(), self.model.pair_geom2.tolist(), strict=True)):
            if frozenset(pair) not in exact:
                self.model.pair_margin[k] = -_HUGE

    # -- both motions

    def together(self, integrator: str, same: float) -> Together:
        """Both with one of MuJoCo's integrators; copies where they part by more than `same`."""
        m = self.model
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        found = self._theirs(self._start, self.steps, until_iterated=True)
        touches = sum(map(bool, found.pairs))
        if not len(found.q):
            return Together(np.empty(0), None, touches, "")
        theirs, near = self._here(found), self._near(found.q)
        while True:
            ours = self._ours(integrator, near, len(theirs))
            apart = self._apart(ours, theirs)
            if not (apart > 0.1 * _NEAR).any():
                break
            more = self._near(np.asarray(self.layout.q_to(self._sound(ours))))
            if more <= near:
                break
            near |= more
        aside = None
        if (apart > same).any():
            rng, precision = np.random.default_rng(31), m.opt.tolerance
            m.opt.tolerance = 1e-30  # ends where the cost ceases to fall: the same accelerations, sooner
            starts = [self._moved(*self._start, rng, ASIDE, ASIDE) for _ in range(_COPIES)]
            copies = [self._here(self._theirs(start, len(theirs))) for start in starts]
            aside = np.max([self._apart(x, theirs) for x in copies], axis=0)
            m.opt.tolerance = precision
        unknown = next(iter(set().union(*found.pairs) - self.touches.keys()), frozenset())
        names = " and ".join(name for name, k in self.shapes.items() if k in unknown)
        return Together(apart, aside, touches, names)

    def _is_iterated(self, pair: Pair) -> bool:
        i, j = pair
        return not self._is_exact(i, j)

    def _theirs(self, start: tuple[Array, Array], steps: int, *, until_iterated: bool = False) -> Theirs:
        """MuJoCo's motion from a state."""
        m, d = self.model, mujoco.MjData(self.model)
        d.qpos[:], d.qvel[:] = start
        q, v = np.full((steps, m.nq), np.nan), np.full((steps, m.nv), np.nan)
        pairs: list[set[Pair]] = []
        for k in range(steps):
            d.ctrl[:] = self.ctrl[k]
            mujoco.mj_step(m, d)
            if not (np.isfinite(d.qpos).all() and np.isfinite(d.qvel).all()):
                break
            touching = {frozenset(x) for x in d.contact.geom[d.contact.efc_address >= 0].tolist()}
            if until_iterated and any(map(self._is_iterated, touching)):
                return Theirs(q[:k], v[:k], pairs)
            q[k], v[k] = d.qpos, d.qvel
            pairs.append(touching)
        return Theirs(q, v, pairs)

    def _here(self, theirs: Theirs) -> Array:
        """The same in kinetree's layout."""
        count = len(theirs.pairs)
        q, v = theirs.q[:count], theirs.v[:count]
        states = np.full((len(theirs.q), self.robot.nq + self.robot.nv), np.nan)
        if count:
            states[:count] = np.hstack([self.layout.q_from(q), self.layout.v_from(q, v)])
        return states

    def _sound(self, states: Array) -> Array:
        """q until a motion is beyond bounds."""
        return states[np.logical_and.accumulate((np.abs(states) < _HUGE).all(axis=1)), : self.robot.nq]

    def _apart(self, ours: Array, theirs: Array) -> Array:
        """The largest difference until each step; infinite where one motion is beyond bounds, NaN where both are."""
        a, b = self._sound(ours), self._sound(theirs)
        first, last = sorted((len(a), len(b)))
        found = np.full(len(theirs), np.nan)
        found[first:last] = np.inf
        if first:
            difference = np.abs(self.robot.difference(b[:first], a[:first])).max(axis=1)
            found[:first] = np.maximum.accumulate(difference / np.maximum(np.abs(b[:first]).max(axis=1), 1.0))
        return found

    def _near(self, their_q: Array) -> set[Pair]:
        """The pairs of shapes with formulas that come near each other in some configuration."""
        m, d = self._wide, mujoco.MjData(self._wide)
        found: set[Pair] = set()
        for q in (self._start[0], *their_q[np.isfinite(their_q).all(axis=1)]):
            d.qpos[:] = q
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            mujoco.mj_collision(m, d)
            found.update(map(frozenset, d.contact.geom.tolist()))
        return {pair for pair in found & self.touches.keys() if not self._is_iterated(pair)}

    def _ours(self, integrator: str, near: set[Pair], steps: int) -> Array:
        """kinetree's states after each step."""
        given = replace(self.soft, touches=tuple(self.touches[x] for x in self.touches if x in near), unsupported=())
        q, v = self.layout.q_from(self._start[0]), self.layout.v_from(*self._start)
        ctrl, tau = (self.ctrl[:steps], None) if self.is_driven else (None, np.zeros((steps, self.robot.nv)))
        method: Any = INTEGRATORS[integrator]
        if integrator == "Euler" and self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP:
            method = "symplectic_euler"
        with warnings.catch_warnings(), quick_code():
            warnings.simplefilter("ignore", kt.errors.SimulationWarning)
            found = kt.rollout(
                self.robot, q, v, tau, float(self.model.opt.timestep), ctrl=ctrl, integrator=method,
                passive=[*self._springs_and_dampers(), "friction"], contact=given, divide=False,
            )  # fmt: skip
        return np.asarray(found)[:, : self.robot.nq + self.robot.nv]
