"""Records of a robot's extras beside the model that MuJoCo compiles from the same file, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kinetree as kt

_DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid", "user")
_GAINS = ("fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user")
_BIASES = ("none", "affine", "muscle", "dcmotor", "so3", "user")
_TRANSMISSIONS = ("joint", "jointinparent", "slidercrank", "tendon", "site", "body", "joint")
_INPUTS = {"pos": 1, "vel": 2, "ff": 4, "voltage": 8, "none": 16, "pressure": 32}


class Differences:
    """Collects what differs."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.compared = 0

    def same(self, where: str, ours: Any, theirs: Any, tolerance: float = 1e-12) -> None:
        self.compared += 1
        if isinstance(ours, str) or isinstance(theirs, str):
            if ours != theirs:
                self.found.append(f"{where}: {ours!r} instead of {theirs!r}")
            return
        a, b = np.atleast_1d(np.asarray(ours, float)), np.atleast_1d(np.asarray(theirs, float))
        if a.shape != b.shape or not np.allclose(a, b, rtol=tolerance, atol=tolerance):
            self.found.append(f"{where}: {a.tolist()} instead of {b.tolist()}")


def differences(path: Path | str, robot: kt.Model | None = None, model: Any = None) -> Differences:
    """What differs between the extras and the compiled model of a file."""
    robot = kt.load(path) if robot is None else robot
    m = mujoco.MjModel.from_xml_path(str(path)) if model is None else model
    d = Differences()
    for compare in (
        _options,
        _actuators,
        _tendons,
        _joints,
        _bodies,
        _shapes,
        _sites,
        _cameras,
        _equalities,
        _sensors,
        _contacts,
        _keyframes,
    ):
        compare(d, robot, m)
    return d


def _options(d: Differences, robot: kt.Model, m: Any) -> None:
    from kinetree.model.extras import SimulationOptions

    o, t = robot.extras.options or SimulationOptions(), m.opt
    for name in (
        "timestep", "gravity", "wind", "magnetic", "density", "viscosity", "iterations", "tolerance", "ls_iterations",
        "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations",
        "sdf_initpoints", "sleep_tolerance", "impratio",
    ):  # fmt: skip
        d.same(f"option {name}", getattr(o, name), getattr(t, name))
    d.same("o_margin", o.override_margin, t.o_margin)
    d.same("o_solref", o.override_solref, t.o_solref)
    d.same("o_solimp", o.override_solimp, t.o_solimp)
    d.same("o_friction", o.override_friction, t.o_friction)
    d.same("integrator", ("Euler", "RK4", "implicit", "implicitfast", "discrete").index(o.integrator), t.integrator)
    d.same("cone", ("pyramidal", "elliptic").index(o.cone), t.cone)
    d.same("jacobian", ("dense", "sparse", "auto").index(o.jacobian), t.jacobian)
    d.same("solver", ("PGS", "CG", "Newton").index(o.solver), t.solver)
    d.same("disableactuator", sum(1 << g for g in o.disabled_actuator_groups), t.disableactuator)
    for prefix, flags, is_on in (("mjDSBL_", t.disableflags, False), ("mjENBL_", t.enableflags, True)):
        kind = mujoco.mjtDisableBit if prefix == "mjDSBL_" else mujoco.mjtEnableBit
        for name, bit in kind.__members__.items():
            if name.startswith(prefix):
                field = name.removeprefix(prefix).lower()
                d.same(f"flag {field}", getattr(o.flags, field), bool(flags & bit.value) == is_on)


def _actuators(d: Differences, robot: kt.Model, m: Any) -> None:
    held = robot.extras.actuators
    d.same("number of actuators", len(held), m.nactuator)
    for k, a in enumerate(held[: m.nactuator]):
        at = f"actuator {k} {a.name!r}"
        t = m.actuator(k)
        d.same(f"{at} name", a.name, t.name)
        d.same(f"{at} transmission", a.transmission, _TRANSMISSIONS[int(m.actuator_trntype[k])])
        find = {
            "joint": m.joint, "jointinparent": m.joint, "tendon": m.tendon, "site": m.site, "slidercrank": m.site,
            "body": m.body,
        }[a.transmission]  # fmt: skip
        first, second = m.actuator_trnid[k]
        d.same(f"{at} target", a.target, find(int(first)).name)
        if a.transmission in ("site", "slidercrank"):
            d.same(f"{at} reference", a.reference, m.site(int(second)).name if second >= 0 else "")
        for name, theirs in (
            ("dynamics", _DYNAMICS[int(m.actuator_dyntype[k])]),
            ("gain", _GAINS[int(m.actuator_gaintype[k])]),
            ("bias", _BIASES[int(m.actuator_biastype[k])]),
            ("dynamics_parameters", m.actuator_dynprm[k]),
            ("gain_parameters", m.actuator_gainprm[k]),
            ("force_limited", m.actuator_forcelimited[k]),
            ("force_range", m.actuator_forcerange[k]),
            ("activation_limited", m.actuator_actlimited[k]),
            ("activation_range", m.actuator_actrange[k]),
            ("activation_size", m.actuator_actnum[k]),
            ("acts_early", m.actuator_actearly[k]),
            ("damping", [m.actuator_damping[k], *m.actuator_dampingpoly[k]]),
            ("armature", m.actuator_armature[k]),
            ("group", m.actuator_group[k]),
            ("samples", m.actuator_history[k][0]),
            ("delay", m.actuator_delay[k]),
        ):
            d.same(f"{at} {name}", getattr(a, name), theirs)
        if a.transmission == "slidercrank":
            d.same(f"{at} crank_length", a.crank_length, m.actuator_cranklength[k])
        skip = a.damping_ratio is not None
        d.same(
            f"{at} bias_parameters",
            [x for i, x in enumerate(a.bias_parameters) if i != 2 or not skip],
            [x for i, x in enumerate(m.actuator_biasprm[k]) if i != 2 or not skip],
        )
        outs = range(int(m.actuator_outadr[k]), int(m.actuator_outadr[k] + m.actuator_outnum[k]))
        if a.gain != "so3" and len(outs):
            d.same(f"{at} gear", a.gear, m.actuator_gear[outs[0]])
        controls = range(int(m.actuator_ctrladr[k]), int(m.actuator_ctrladr[k] + m.actuator_ctrlnum[k]))
        if len(controls):
            has_position = a.gain != "pid" or "pos" in a.inputs
            if has_position:
                d.same(f"{at} control_range", a.control_range, m.actuator_ctrlrange[controls[0]])
                d.same(f"{at} control_limited", a.control_limited, m.actuator_ctrllimited[controls[0]])
        if a.gain == "so3":
            d.same(f"{at} inputs", {"expmap": 1, "quat": 2}[(*a.inputs, "expmap")[0]], m.actuator_ctrlspec[k])
        elif a.inputs or a.gain in ("fixed", "affine"):
            d.same(f"{at} inputs", sum(_INPUTS[word] for word in a.inputs), m.actuator_ctrlspec[k])
        if m.nuser_actuator:
            d.same(f"{at} user", (*a.user, *(0.0,) * (m.nuser_actuator - len(a.user))), m.actuator_user[k])


def _tendons(d: Differences, robot: kt.Model, m: Any) -> None:
    held = robot.extras.tendons
    d.same("number of tendons", len(held), m.ntendon)
    for k, t in enumerate(held[: m.ntendon]):
        at = f"tendon {k} {t.name!r}"
        d.same(f"{at} name", t.name, m.tendon(k).name)
        start, count = int(m.tendon_adr[k]), int(m.tendon_num[k])
        ours = [(type(step).__name__, *(getattr(step, f) for f in type(step).__match_args__)) for step in t.path]
        theirs: list[Any] = []
        for w in range(start, start + count):
            kind, which, number = int(m.wrap_type[w]), int(m.wrap_objid[w]), float(m.wrap_prm[w])
            if kind == mujoco.mjtWrap.mjWRAP_JOINT:
                theirs.append(("TendonJoint", m.joint(which).name, number))
            elif kind == mujoco.mjtWrap.mjWRAP_SITE:
                theirs.append(("TendonSite", m.site(which).name))
            elif kind == mujoco.mjtWrap.mjWRAP_PULLEY:
                theirs.append(("Pulley", number))
            else:
                theirs.append(("TendonShape", m.geom(which).name, m.site(int(number)).name if number >= 0 else ""))
        d.same(f"{at} path", str(ours), str(theirs))
        for name, value in (
            ("limited", m.tendon_limited[k]), ("range", m.tendon_range[k]), ("margin", m.tendon_margin[k]),
            ("force_limited", m.tendon_actfrclimited[k]), ("force_range", m.tendon_actfrcrange[k]),
            ("stiffness", [m.tendon_stiffness[k], *m.tendon_stiffnesspoly[k]]),
            ("damping", [m.tendon_damping[k], *m.tendon_dampingpoly[k]]), ("friction", m.tendon_frictionloss[k]),
            ("armature", m.tendon_armature[k]), ("spring_yield", m.tendon_springyield[k]),
            ("solref_limit", m.tendon_solref_lim[k]), ("solimp_limit", m.tendon_solimp_lim[k]),
            ("solref_friction", m.tendon_solref_fri[k]), ("solimp_friction", m.tendon_solimp_fri[k]),
            ("group", m.tendon_group[k]), ("width", m.tendon_width[k]),
        ):  # fmt: skip
            d.same(f"{at} {name}", getattr(t, name), value)
        if m.tendon_matid[k] < 0:
            d.same(f"{at} color", t.color, m.tendon_rgba[k], 1e-6)
        else:
            d.same(f"{at} material", t.material, m.material(int(m.tendon_matid[k])).name)
        if t.spring_length is not None:
            d.same(f"{at} spring_length", t.spring_length, m.tendon_lengthspring[k])


def _joints(d: Differences, robot: kt.Model, m: Any) -> None:
    from kinetree.model.extras import JointSettings

    d.same("number of joints", len(robot.joints), m.njnt)
    for k, name in enumerate(robot.joints):
        if k >= m.njnt:
            break
        at, joint = f"joint {name!r}", robot.joints[name]
        own = robot.extras.joints[name] if name in robot.extras.joints else JointSettings(name)
        dof, type_ = int(m.jnt_dofadr[k]), int(m.jnt_type[k])
        if m.joint(k).name:
            d.same(f"{at} name", name, m.joint(k).name)
        if type_ != mujoco.mjtJoint.mjJNT_FREE:
            d.same(f"{at} solref_limit", own.solref_limit, m.jnt_solref[k])
            d.same(f"{at} solimp_limit", own.solimp_limit, m.jnt_solimp[k])
            d.same(f"{at} margin", own.margin, m.jnt_margin[k])
            d.same(f"{at} carry", own.actuators_carry_gravity, m.jnt_actgravcomp[k])
        d.same(f"{at} solref_friction", own.solref_friction, m.dof_solref[dof])
        d.same(f"{at} solimp_friction", own.solimp_friction, m.dof_solimp[dof])
        d.same(f"{at} group", own.group, m.jnt_group[k])
        d.same(f"{at} friction", joint.friction, m.dof_frictionloss[dof : dof + joint.kind.nv])
        d.same(f"{at} spring_yield", own.spring_yield, m.jnt_springyield[k])
        stiffness = own.stiffness if any(own.stiffness) else (*joint.stiffness[:1], 0.0, 0.0)
        damping = own.damping if any(own.damping) else (*joint.damping[:1], 0.0, 0.0)
        d.same(f"{at} stiffness", stiffness, [m.jnt_stiffness[k], *m.jnt_stiffnesspoly[k]], 1e-10)
        added = m.actuator_armature.any() or m.actuator_damping.any() or m.tendon_armature.any()
        if not added:
            d.same(f"{at} damping", damping, [m.dof_damping[dof], *m.dof_dampingpoly[dof]], 1e-10)
            d.same(f"{at} armature", joint.armature, m.dof_armature[dof : dof + joint.kind.nv])
        if type_ == mujoco.mjtJoint.mjJNT_BALL:
            d.same(f"{at} limited", own.limited, m.jnt_limited[k])
            d.same(f"{at} range", own.range, m.jnt_range[k])
        elif type_ != mujoco.mjtJoint.mjJNT_FREE:
            has = bool(np.isfinite(joint.limits.lower[0]))
            d.same(f"{at} limited", has, m.jnt_limited[k])
            if has:
                d.same(f"{at} limits", (joint.limits.lower[0], joint.limits.upper[0]), m.jnt_range[k])
            d.same(f"{at} force limited", bool(np.isfinite(joint.limits.effort[0])), m.jnt_actfrclimited[k])
            if m.jnt_actfrclimited[k]:
                effort = joint.limits.effort[0]
                ours = own.actuator_force_range if own.actuator_force_limited else (-effort, effort)
                d.same(f"{at} force range", ours, m.jnt_actfrcrange[k])
        if m.nuser_jnt:
            d.same(f"{at} user", (*own.user, *(0.0,) * (m.nuser_jnt - len(own.user))), m.jnt_user[k])


def _bodies(d: Differences, robot: kt.Model, m: Any) -> None:
    from kinetree.model.extras import BodySettings

    for k in range(1, m.nbody):
        name = m.body(k).name
        if not name:
            continue
        own = robot.extras.bodies[name] if name in robot.extras.bodies else BodySettings(name)
        d.same(f"body {name!r} gravcomp", own.gravity_compensation, m.body_gravcomp[k])
        d.same(f"body {name!r} mocap", own.mocap, m.body_mocapid[k] >= 0)
        if m.nuser_body:
            d.same(f"body {name!r} user", (*own.user, *(0.0,) * (m.nuser_body - len(own.user))), m.body_user[k])


def _shapes(d: Differences, robot: kt.Model, m: Any) -> None:
    from kinetree.model.extras import ContactParameters, ShapeSettings

    settings = {(s.body, s.index): s for s in robot.extras.shapes}
    for b in range(m.nbody):
        name = m.body(b).name
        if name not in robot.bodies:
            continue
        shapes = robot.bodies[name].geometry
        if len(shapes) != m.body_geomnum[b]:
            d.same(f"body {name!r} shapes", len(shapes), int(m.body_geomnum[b]))
            continue
        for k, shape in enumerate(shapes):
            g, at = int(m.body_geomadr[b]) + k, f"shape {k} {shape.name!r} of {name!r}"
            own = settings.get((name, k), ShapeSettings(name, k))
            c = shape.contact or ContactParameters()
            d.same(f"{at} name", shape.name, m.geom(g).name)
            for field, theirs in (
                ("contype", m.geom_contype), ("conaffinity", m.geom_conaffinity), ("condim", m.geom_condim),
                ("priority", m.geom_priority), ("friction", m.geom_friction), ("solmix", m.geom_solmix),
                ("solref", m.geom_solref), ("solimp", m.geom_solimp), ("margin", m.geom_margin), ("gap", m.geom_gap),
            ):  # fmt: skip
                d.same(f"{at} {field}", getattr(c, field), theirs[g])
            d.same(f"{at} surfacevel", c.surface_velocity or (0.0,) * 6, m.geom_surfacevel[g])
            d.same(f"{at} adhesion", c.adhesion or (0.0,), m.geom_adhesion[g])
            d.same(f"{at} group", own.group, m.geom_group[g])
            if m.geom_matid[g] >= 0:
                d.same(f"{at} material", own.material, m.material(int(m.geom_matid[g])).name)
            d.same(f"{at} fluid", own.fluid_shape == "ellipsoid", m.geom_fluid[g][0] > 0)
            if own.fluid_shape == "ellipsoid":
                d.same(f"{at} fluid coefficients", own.fluid_coefficients, m.geom_fluid[g][1:6])
            if m.nuser_geom:
                d.same(f"{at} user", (*own.user, *(0.0,) * (m.nuser_geom - len(own.user))), m.geom_user[g])


def _sites(d: Differences, robot: kt.Model, m: Any) -> None:
    sites = robot.extras.sites
    named = [m.site(k) for k in range(m.nsite) if m.site(k).name]
    d.same("sites", str([s.name for s in sites]), str([s.name for s in named]))
    kinds = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
    for s in sites:
        t = m.site(s.name)
        d.same(f"site {s.name!r} body", s.body, m.body(int(t.bodyid[0])).name or s.body)
        d.same(f"site {s.name!r} type", kinds.index(s.shape), t.type)
        if s.shape == "sphere":
            d.same(f"site {s.name!r} size", s.size[0], t.size[0])
        d.same(f"site {s.name!r} group", s.group, t.group)
        if m.nuser_site:
            d.same(f"site {s.name!r} user", (*s.user, *(0.0,) * (m.nuser_site - len(s.user))), t.user)


def _cameras(d: Differences, robot: kt.Model, m: Any) -> None:
    cameras = robot.extras.cameras
    named = [m.camera(k) for k in range(m.ncam) if m.camera(k).name]
    d.same("cameras", str([c.name for c in cameras]), str([c.name for c in named]))
    modes = ("fixed", "track", "trackcom", "targetbody", "targetbodycom")
    for c in cameras:
        t = m.camera(c.name)
        d.same(f"camera {c.name!r} mode", modes.index(c.mode), t.mode)
        d.same(
            f"camera {c.name!r} target", c.target, m.body(int(t.targetbodyid[0])).name if t.targetbodyid[0] >= 0 else ""
        )
        d.same(f"camera {c.name!r} resolution", c.resolution, m.cam_resolution[t.id])
        if not any(c.sensor_size):
            d.same(f"camera {c.name!r} fovy", c.field_of_view, t.fovy)
        d.same(f"camera {c.name!r} ipd", c.eye_distance, t.ipd)


def _name_of(m: Any, kind: int, index: int) -> str:
    return mujoco.mj_id2name(m, kind, index) or "" if index >= 0 else ""


def _equalities(d: Differences, robot: kt.Model, m: Any) -> None:
    held = robot.extras.equalities
    d.same("number of equalities", len(held), m.neq)
    kinds = {v.value: k.removeprefix("mjEQ_").lower() for k, v in mujoco.mjtEq.__members__.items()}
    for k, e in enumerate(held[: m.neq]):
        at = f"equality {k} {e.name!r}"
        d.same(f"{at} name", e.name, m.equality(k).name)
        d.same(f"{at} kind", e.kind, kinds[int(m.eq_type[k])])
        kind = int(m.eq_objtype[k])
        first, second = _name_of(m, kind, m.eq_obj1id[k]), _name_of(m, kind, m.eq_obj2id[k])
        if first:
            d.same(f"{at} first", e.first, first)
        if second or m.eq_obj2id[k] < 0:
            d.same(f"{at} second", e.second, second)
        d.same(f"{at} active", e.active, m.eq_active0[k])
        d.same(f"{at} solref", e.solref, m.eq_solref[k])
        d.same(f"{at} solimp", e.solimp, m.eq_solimp[k])
        data = m.eq_data[k]
        if e.kind in ("joint", "tendon"):
            d.same(f"{at} coefficients", e.coefficients, data[:5])
        elif e.between == "body":
            d.same(f"{at} anchor", e.anchor, data[:3])
            if e.relative_position is not None and e.relative_rotation is not None:
                x, y, z, w = e.relative_rotation
                q = np.array([w, x, y, z]) / np.linalg.norm([w, x, y, z])
                d.same(f"{at} pose", [*e.relative_position, *q], data[3:10], 1e-9)
        if e.kind == "weld":
            d.same(f"{at} torque scale", e.torque_scale, data[10])


def _sensors(d: Differences, robot: kt.Model, m: Any) -> None:
    held = robot.extras.sensors
    d.same("number of sensors", len(held), m.nsensor)
    kinds = {v.value: k.removeprefix("mjSENS_").lower() for k, v in mujoco.mjtSensor.__members__.items()}
    named = {
        "jointactuatorfrc": "jointactfrc", "tendonactuatorfrc": "tendonactfrc", "distance": "geomdist",
        "normal": "geomnormal", "fromto": "geomfromto", "camprojection": "camprojection",
    }  # fmt: skip
    objects = {v.value: k.removeprefix("mjOBJ_").lower() for k, v in mujoco.mjtObj.__members__.items()}
    for k, s in enumerate(held[: m.nsensor]):
        at = f"sensor {k} {s.name!r}"
        d.same(f"{at} name", s.name, m.sensor(k).name)
        d.same(f"{at} kind", named.get(s.kind, s.kind), kinds[int(m.sensor_type[k])])
        for what, type_, name, theirs_type, theirs in (
            ("object", s.object_type, s.object, m.sensor_objtype, m.sensor_objid),
            ("reference", s.reference_type, s.reference, m.sensor_reftype, m.sensor_refid),
        ):
            kind = objects[int(theirs_type[k])]
            if s.kind == "contact" and kind == "xbody":
                kind = "subtree"
            d.same(f"{at} {what} type", type_, kind if kind != "unknown" else "")
            known = _name_of(m, int(theirs_type[k]), int(theirs[k]))
            if known or theirs[k] < 0:
                d.same(f"{at} {what}", name, known)
        for name, value in (
            ("cutoff", m.sensor_cutoff[k]), ("noise", m.sensor_noise[k]), ("samples", m.sensor_history[k][0]),
            ("delay", m.sensor_delay[k]), ("interval", m.sensor_interval[k]),
        ):  # fmt: skip
            d.same(f"{at} {name}", getattr(s, name), value)
        if s.kind == "contact":
            words = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
            d.same(f"{at} data", sum(1 << words.index(w) for w in s.data), m.sensor_intprm[k][0])
            d.same(
                f"{at} reduction", ("none", "mindist", "maxforce", "netforce").index(s.reduction), m.sensor_intprm[k][1]
            )
            d.same(f"{at} count", s.count, m.sensor_intprm[k][2])
        if s.kind == "rangefinder":
            words = ("dist", "dir", "origin", "point", "normal", "depth")
            d.same(f"{at} data", sum(1 << words.index(w) for w in s.data), m.sensor_intprm[k][0])
        if s.kind == "user":
            d.same(f"{at} size", s.size, m.sensor_dim[k])
            d.same(f"{at} stage", ("none", "pos", "vel", "acc").index(s.stage), m.sensor_needstage[k])
            d.same(
                f"{at} data type", ("real", "positive", "axis", "quaternion").index(s.data_type), m.sensor_datatype[k]
            )
        if m.nuser_sensor:
            d.same(f"{at} user", (*s.user, *(0.0,) * (m.nuser_sensor - len(s.user))), m.sensor_user[k])


def _contacts(d: Differences, robot: kt.Model, m: Any) -> None:
    pairs, exclusions = robot.extras.contact_pairs, robot.extras.contact_exclusions
    d.same("number of pairs", len(pairs), m.npair)
    d.same("number of exclusions", len(exclusions), m.nexclude)
    signatures = {int(s): k for k, s in enumerate(m.pair_signature)}
    order = sorted(range(m.npair), key=lambda k: int(m.pair_signature[k]))
    theirs = {frozenset((m.geom(int(m.pair_geom1[k])).name, m.geom(int(m.pair_geom2[k])).name)): k for k in order}
    assert len(signatures) <= max(1, m.npair)
    for p in pairs:
        at = f"pair {p.shape1!r} {p.shape2!r}"
        k = theirs.get(frozenset((p.shape1, p.shape2)), -1)
        if k < 0:
            d.found.append(f"{at}: not there")
            continue
        if len(theirs) < m.npair:
            continue
        for name, value in (
            ("condim", m.pair_dim[k]), ("friction", m.pair_friction[k]), ("solref", m.pair_solref[k]),
            ("solref_friction", m.pair_solreffriction[k]), ("solimp", m.pair_solimp[k]), ("margin", m.pair_margin[k]),
            ("gap", m.pair_gap[k]), ("adhesion", m.pair_adhesion[k]),
        ):  # fmt: skip
            d.same(f"{at} {name}", getattr(p, name), value)
    ours = sorted(sorted((e.body1, e.body2)) for e in exclusions)
    names = [m.body(k).name or "world" for k in range(m.nbody)]
    want = sorted(sorted((names[int(s) >> 16], names[int(s) & 65535])) for s in m.exclude_signature)
    d.same("exclusions", str(ours), str(want))


def _keyframes(d: Differences, robot: kt.Model, m: Any) -> None:
    held = robot.extras.keyframes
    for k in range(len(held), m.nkey):  # <size nkey> asks for empty ones
        d.same(f"empty keyframe {k}", m.key(k).name, "")
        d.same(f"empty keyframe {k} q", m.key_qpos[k], m.qpos0)
    d.same("enough keyframes", len(held) <= m.nkey, True)
    layout = kt.interop.Layout(robot, "mujoco") if robot.nv else None
    if layout is not None:
        assert robot.extras.reference_configuration is not None
        qpos = layout.q_to(robot.extras.reference_configuration.q(robot))
        d.same("reference configuration", _unsigned(qpos, m), _unsigned(m.qpos0, m), 1e-9)
    for k, key in enumerate(held[: m.nkey]):
        at = f"key {k} {key.name!r}"
        d.same(f"{at} name", key.name, m.key(k).name)
        d.same(f"{at} time", key.time, m.key_time[k])
        if layout is not None:
            q = key.q(robot)
            d.same(f"{at} q", _unsigned(layout.q_to(q), m), _unsigned(m.key_qpos[k], m), 1e-9)
            d.same(f"{at} v", layout.v_to(q, key.v(robot)), m.key_qvel[k], 1e-9)
        d.same(f"{at} activations", key.activations, m.key_act[k])
        d.same(f"{at} controls", key.controls, m.key_ctrl[k])
        d.same(f"{at} mocap positions", np.ravel(key.mocap_positions), m.key_mpos[k], 1e-9)
        turns = np.array([(w, x, y, z) for x, y, z, w in key.mocap_rotations]).reshape(-1, 4)
        given = np.array(m.key_mquat[k]).reshape(-1, 4)
        alike = np.abs((turns * given).sum(axis=-1)) / np.linalg.norm(given, axis=-1)
        d.same(f"{at} mocap rotations", alike, np.ones(m.nmocap), 1e-9)


def _unsigned(qpos: Any, m: Any) -> Any:
    """Coordinates whose quaternions have length one and no sign."""
    q = np.array(qpos, float)
    for k in range(m.njnt):
        start = {0: 3, 1: 0}.get(int(m.jnt_type[k]))
        if start is not None:
            place = slice(int(m.jnt_qposadr[k]) + start, int(m.jnt_qposadr[k]) + start + 4)
            turn = q[place] / np.linalg.norm(q[place])
            q[place] = turn * np.sign(turn[np.argmax(np.abs(turn))])
    return q
