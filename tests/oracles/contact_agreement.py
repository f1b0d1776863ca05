"""The soft constraints of a robot beside those of the model that MuJoCo compiles from the same file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kinetree as kt
from kinetree.algorithms.softness import Softness
from kinetree.contact_model import InverseWeights, SoftConstraints, TouchSpec, soft_constraints
from kinetree.contact_model.pairs import touching_pairs
from kinetree.model.extras import SimulationOptions

ACCURACY = 1e-9
Pair = tuple[int, int]


class Beside:
    """A robot and MuJoCo's model of the same text, with the numbers of bodies, shapes and joints there."""

    def __init__(self, text: str, folder: Path) -> None:
        file = folder / "robot.xml"
        file.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.errors.ModelWarning)  # of what contacts do not need
            self.robot = robot = kt.load(file)
        self.m = m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(m)
        self.layout = kt.interop.Layout(robot, "mujoco")
        self.soft: SoftConstraints = soft_constraints(robot)
        between = {joint.child for joint in robot.joints.values() if ":" in joint.child}
        names = [name for name in robot.bodies if name not in between]
        assert len(names) == m.nbody
        self.bodies = {name: k for k, name in enumerate(names)}
        self.joints = {name: k for k, name in enumerate(robot.joints)}
        self.shapes: dict[str, int] = {}
        for name, k in self.bodies.items():
            shapes = robot.bodies[name].geometry
            assert len(shapes) == m.body_geomnum[k]
            for i, shape in enumerate(shapes):
                self.shapes[shape.name or f"{name}[{i}]"] = int(m.body_geomadr[k]) + i

    def pair(self, touch: Any) -> Pair:
        return self.shapes[touch.first.name], self.shapes[touch.second.name]

    def assert_weights(self) -> None:
        weights, m = InverseWeights(self.robot), self.m
        for name, k in self.bodies.items():
            np.testing.assert_allclose(
                weights.of_body(name), m.body_invweight0[k], rtol=ACCURACY, atol=1e-13, err_msg=name
            )
        for name, k in self.joints.items():
            first, joint = m.jnt_dofadr[k], self.robot.joints[name]
            ours = [weights.of_joint(name, i) for i in range(joint.kind.nv)]
            np.testing.assert_allclose(ours, m.dof_invweight0[first:][: len(ours)], rtol=ACCURACY, err_msg=name)

    def assert_pairs(self) -> None:
        """All pairs by MuJoCo's rules applied to its own arrays, and those explicit ones between bodies that move."""
        options = self.robot.extras.options or SimulationOptions()
        table = touching_pairs(self.robot, options)
        numbers = [self.shapes[shape.name] for shape in table.shapes]
        ours = {frozenset((numbers[i], numbers[j])) for i, j in zip(table.first, table.second, strict=True)}
        assert ours == self._by_rules()

    def _by_rules(self) -> set[frozenset[int]]:
        m = self.m
        excluded = {int(x) for x in m.exclude_signature}
        parents_too = bool(m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
        group = m.body_weldid
        allowed = set()
        for k in range(m.npair):
            a, b = (group[m.geom_bodyid[g]] for g in (m.pair_geom1[k], m.pair_geom2[k]))
            if a != b and m.body_dofnum[a] + m.body_dofnum[b]:
                allowed.add(frozenset((int(m.pair_geom1[k]), int(m.pair_geom2[k]))))
        for g in range(m.ngeom):
            for h in range(g + 1, m.ngeom):
                a, b = m.geom_bodyid[g], m.geom_bodyid[h]
                w, x = group[a], group[b]
                above = group[m.body_parentid[w]], group[m.body_parentid[x]]
                bits = m.geom_contype[g] & m.geom_conaffinity[h] or m.geom_contype[h] & m.geom_conaffinity[g]
                is_near = w and x and (above[0] == x or above[1] == w) and not parents_too
                is_still = w == x or not m.body_dofnum[w] + m.body_dofnum[x]
                planes = m.geom_type[g] == m.geom_type[h] == mujoco.mjtGeom.mjGEOM_PLANE
                if bits and not (is_near or is_still or planes or (int(a) << 16) + int(b) in excluded):
                    allowed.add(frozenset((g, h)))
        return allowed

    def randomise(self, rng: np.random.Generator) -> None:
        """A state in which bodies are near each other, and joints near their limits."""
        m, d = self.m, self.d
        mujoco.mj_resetData(m, d)
        for k in range(m.njnt):
            first, kind = m.jnt_qposadr[k], m.jnt_type[k]
            if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
                last = first + (7 if kind == mujoco.mjtJoint.mjJNT_FREE else 4)
                d.qpos[last - 4 : last] = rng.normal(size=4)
                d.qpos[last - 4 : last] /= np.linalg.norm(d.qpos[last - 4 : last])
                d.qpos[first : last - 4] += rng.normal(0.0, 0.1, size=last - 4 - first)
            elif m.jnt_limited[k]:
                d.qpos[first] = rng.choice(m.jnt_range[k]) + rng.normal() * 10.0 ** -rng.integers(1, 5)
            else:
                d.qpos[first] += rng.normal(0.0, 0.3)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)

    def assert_contacts(self) -> set[Pair]:
        """Each contact is one of ours, in the same order and with the same parameters; the pairs of all of them."""
        ours: dict[Pair, list[tuple[int, TouchSpec]]] = {}
        for place, touch in enumerate(self.soft.touches):
            ours.setdefault(self.pair(touch), []).append((place, touch))
        last, seen = 0, set()
        for k in range(self.d.ncon):
            contact = self.d.contact[k]
            if contact.exclude == 3:  # nothing moves
                continue
            pair = int(contact.geom[0]), int(contact.geom[1])
            if pair not in ours:
                assert {*pair} in self._without_contacts()
                continue
            fitting = [entry for entry in ours[pair] if _same(entry[1], contact)]
            assert fitting, (pair, ours[pair], contact)
            assert fitting[-1][0] >= last
            last = max(last, fitting[0][0])
            seen.add(pair)
            if contact.efc_address >= 0:
                self._assert_contact_rows(fitting[0][1], contact)
        return seen

    def _without_contacts(self) -> list[set[int]]:
        """Pairs of kinds of shapes for which there are no contacts yet, which must have been reported."""
        pairs = [one.name.split(", ") for one in self.soft.unsupported if one.what == "pair"]
        return [{self.shapes[name] for name in pair} for pair in pairs]

    def _assert_contact_rows(self, touch: TouchSpec, contact: Any) -> None:
        d, row = self.d, contact.efc_address
        r = float(contact.dist) - touch.margin
        impedance = touch.softness.at(r)
        A, edge = touch.softness.inverse_inertia, 1.0
        if contact.dim > 1 and not self.soft.is_elliptic:
            mu = touch.friction[0]
            A, edge = A * (1.0 + mu * mu), 2.0 * mu * mu / self.soft.friction_ratio
        R = edge * max((1.0 - impedance) / impedance * A, 1e-15)
        np.testing.assert_allclose(R, d.efc_R[row], rtol=ACCURACY)
        self._assert_response(touch.softness, row, r, K=touch.softness.stiffness)
        if self.soft.is_elliptic and contact.dim > 1:
            across = touch.softness
            if any(touch.friction_reference):
                across = replace(across, reference=touch.friction_reference)
            for k in range(1, contact.dim):
                np.testing.assert_allclose((0.0, across.damping), d.efc_KBIP[row + k, :2], rtol=1e-12)

    def assert_joints(self) -> dict[str, int]:
        """Rows of limits, dry friction and couplings; how many of each there are."""
        m, d, C = self.m, self.d, mujoco.mjtConstraint
        of_limits = {self.joints[one.joint]: one for one in self.soft.limits}
        of_frictions = {m.jnt_dofadr[self.joints[one.joint]] + one.dof: one for one in self.soft.frictions}
        of_couplings = {one.name: one for one in self.soft.couplings}
        counts = {"limits": 0, "frictions": 0, "couplings": 0}
        for row, (kind, k) in enumerate(zip(d.efc_type, d.efc_id, strict=True)):
            if kind == C.mjCNSTR_LIMIT_JOINT:
                limit = of_limits[k]
                counts["limits"] += 1
                assert limit.margin == d.efc_margin[row]
                if m.jnt_type[k] != mujoco.mjtJoint.mjJNT_BALL:
                    q = d.qpos[m.jnt_qposadr[k]]
                    away = min(abs(x - d.efc_pos[row]) for x in (q - limit.lower, limit.upper - q))
                    assert away <= 1e-12
                self._assert_row(limit.softness, row, K=limit.softness.stiffness)
            elif kind == C.mjCNSTR_FRICTION_DOF:
                friction = of_frictions[k]
                counts["frictions"] += 1
                assert friction.loss == d.efc_frictionloss[row]
                self._assert_row(friction.softness, row, K=0.0)
            elif kind == C.mjCNSTR_EQUALITY and m.eq_type[k] == mujoco.mjtEq.mjEQ_JOINT:
                coupling = of_couplings[m.equality(k).name or f"equality[{k}]"]
                counts["couplings"] += 1
                q1, q2 = (
                    0.0 if name is None else d.qpos[m.jnt_qposadr[self.joints[name]]] - reference
                    for name, reference in zip((coupling.joint1, coupling.joint2), coupling.reference, strict=True)
                )
                wanted = sum(c * q2**n for n, c in enumerate(coupling.coefficients))
                np.testing.assert_allclose(q1 - wanted, d.efc_pos[row], atol=1e-12)
                self._assert_row(coupling.softness, row, K=coupling.softness.stiffness)
        assert counts["frictions"] == len(of_frictions)
        assert counts["couplings"] == len(of_couplings)
        return counts

    def _assert_row(self, softness: Softness, row: int, *, K: float) -> None:
        d = self.d
        r = float(d.efc_pos[row] - d.efc_margin[row])
        np.testing.assert_allclose(softness.regularisation(softness.at(r)), d.efc_R[row], rtol=ACCURACY)
        self._assert_response(softness, row, r, K=K)

    def _assert_response(self, softness: Softness, row: int, r: float, *, K: float) -> None:
        d = self.d
        impedance = softness.at(r)
        ours = (K, softness.damping, impedance)
        np.testing.assert_allclose(ours, d.efc_KBIP[row, :3], rtol=1e-12)
        if K and not self.m.flg_surfacevel and not self.m.flg_adhesion:
            rate = float(d.efc_vel[row])
            scale = abs(softness.damping * rate) + abs(K * r)
            a_ref = softness.acceleration(rate, impedance, r)
            np.testing.assert_allclose(a_ref, d.efc_aref[row], atol=1e-12 * scale)


def _same(touch: TouchSpec, contact: Any) -> bool:
    dimension = touch.dimension
    if touch.adhesion and contact.dist >= contact.includemargin:
        dimension = 1
    ours = (dimension, *touch.friction, touch.margin, touch.adhesion)
    theirs = (contact.dim, *contact.friction, contact.includemargin, contact.adhesion)
    return bool(np.allclose(ours, theirs, rtol=1e-14, atol=0.0))
