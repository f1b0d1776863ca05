"""Drake as a side of a comparison."""

from __future__ import annotations

import importlib
import logging
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kinetree.comparison.engine import Engine, Places, Raw, UnreadableError, first_line
from kinetree.comparison.side import FIXED, Array, SeenBody, SeenJoint, Solid, inverse
from kinetree.comparison.source import MOVING_WORLD, Source, without_shapes

__all__ = ["DrakeSide"]

_MOST_WARNINGS = 5
_WORDS: dict[str, tuple[str, ...]] = {
    "revolute": ("revolute", "continuous"),
    "quaternion_floating": ("free", "floatingbase"),
    "rpy_floating": ("freerpy",),
    "ball_rpy": ("spherical",),
    "screw": ("helical",),
}


class DrakeSide(Engine):
    """A file as Drake reads it; a URDF file without its shapes."""

    library = "drake"

    def __init__(self, source: Source) -> None:
        plants: Any = importlib.import_module("pydrake.multibody.plant")
        parsing: Any = importlib.import_module("pydrake.multibody.parsing")
        self._tree: Any = importlib.import_module("pydrake.multibody.tree")
        self.name = "drake"
        self.title: str = f"drake {_version()}".rstrip()
        self.notes: list[str] = []
        self.remarks: dict[str, str] = {}
        plant = plants.MultibodyPlant(0.0)
        self.plant: Any = plant
        parser = parsing.Parser(plant)
        _add_packages(parser.package_map(), source)
        if source.format == "URDF":
            text = without_shapes(source.file, {}, source.robot.floating_base, root_joint=None)
            with _log_kept() as lines:
                try:
                    parser.AddModelsFromString(text, "urdf")
                except RuntimeError as error:
                    raise UnreadableError(_without_place(str(error))) from error
            self.notes.append("drake was given the file without its shapes")
        elif source.format in ("MJCF", "SDF"):
            with _log_kept() as lines:
                parser.AddModels(str(source.file))
        else:
            raise UnreadableError("it reads URDF, SDF and MJCF")
        self.notes += [f"drake warns: {line}" for line in [*dict.fromkeys(lines)][:_MOST_WARNINGS]]
        robot = source.robot
        if source.format == "URDF":
            if not robot.floating_base and robot.root != "world":
                plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(robot.root).body_frame())
        else:
            self.notes.append("drake takes no gravity from files; it was given the robot's")
        plant.mutable_gravity_field().set_gravity_vector(np.array(robot.gravity))
        plant.Finalize()
        x, y, z = plant.gravity_field().gravity_vector().tolist()
        self.gravity: tuple[float, float, float] = (x, y, z)
        self.context: Any = plant.CreateDefaultContext()
        self._describe(source)

    def _describe(self, source: Source) -> None:
        plant, ours = self.plant, source.robot.joints
        joints = [plant.get_joint(k) for k in plant.GetJointIndices()]
        above = {int(joint.child_body().index()): joint for joint in joints}
        bodies = [plant.get_body(self._tree.BodyIndex(k)) for k in range(1, plant.num_bodies())]
        top = plant.GetModelInstanceName(bodies[0].model_instance()).partition("::")[0] if bodies else ""

        def named(element: Any, names: Collection[str]) -> str:
            """Its name for kinetree: those of nested models come first, without that of the file's only one."""
            own = "world" if element.name() == MOVING_WORLD else str(element.name())
            full = f"{plant.GetModelInstanceName(element.model_instance())}::{own}"
            inner = full.removeprefix(f"{top}::")
            return next((name for name in (full, inner, own) if name in names), inner)

        names = {int(body.index()): named(body, source.robot.bodies) for body in bodies}
        self._bodies = {names[int(body.index())]: body for body in bodies}

        def carrier(body: Any) -> str:
            """The body that moves this one."""
            while (joint := above.get(int(body.index()))) is not None and not joint.num_velocities():
                body = joint.parent_body()
            return FIXED if joint is None else names[int(body.index())]

        places = {name: self._place(body) for name, body in self._bodies.items()}
        self.bodies: dict[str, SeenBody] = {}
        for name, body in self._bodies.items():
            mover = carrier(body)
            T = inverse(places[mover]) @ places[name] if mover else places[name]
            self.bodies[name] = SeenBody(name, mover, T, _solid(body))
        by_child = {joint.child: name for name, joint in ours.items()}
        self.joints: dict[str, SeenJoint] = {}
        self.places: dict[str, Places] = {}
        self._children: dict[str, Any] = {}
        for joint in joints:
            nq, nv = joint.num_positions(), joint.num_velocities()
            if not nv:
                continue
            child = joint.child_body()
            name, moved = named(joint, ours), names[int(child.index())]
            name = name if name in ours else by_child.get(moved, name)
            q, v = joint.position_start(), joint.velocity_start()
            self.places[name] = Places([*range(q, q + nq)], [*range(v, v + nv)])
            self._children[name] = child
            kind = str(joint.type_name())
            self.joints[name] = SeenJoint(
                name, _WORDS.get(kind, (kind,)), carrier(joint.parent_body()), moved, nv, "", _numbers(joint)
            )

    def reason(self, what: str, parts: Mapping[str, Solid], ours: Solid, theirs: Solid) -> str:  # noqa: ARG002
        """It puts a solid sphere in the place of a body that cannot be."""
        radius = np.cbrt(3.0 * theirs.mass / (4000.0 * math.pi))
        moment = 0.4 * theirs.mass * radius**2
        if theirs.mass and np.allclose(theirs.inertia, moment * np.eye(3), rtol=1e-6, atol=1e-6 * moment):
            mass_of_1_kg = "of 1 kg " if not ours.mass else ""
            return f"drake puts a sphere of water {mass_of_1_kg}in the place of an inertia that no body could have"
        return ""

    def reason_for_limit(self, word: str, ours: Sequence[float], theirs: float) -> str:
        lower, upper, _ = ours
        if word in ("lower limit", "upper limit") and math.isinf(upper - lower) and not math.isinf(theirs):
            return "drake takes the limits of a continuous joint, which URDF ignores"
        if word in ("lower limit", "upper limit") and lower == upper and math.isinf(theirs):
            return "drake takes equal limits for none"
        return ""

    def neutral(self) -> Array:
        return np.array(self.plant.GetPositions(self.plant.CreateDefaultContext()))

    def _place(self, body: Any) -> Array:
        return np.array(self.plant.EvalBodyPoseInWorld(self.context, body).GetAsMatrix4())

    def raw(self, q: Array, v: Array) -> Raw:
        plant, context = self.plant, self.context
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        gravity = -plant.CalcGravityGeneralizedForces(context)
        placements = {name: self._place(body) for name, body in self._bodies.items()}
        twists = {}
        world = plant.world_frame()
        with_v = self._tree.JacobianWrtVariable.kV
        for name, at in self.places.items():
            body = self._children[name]
            origin = inverse(self._place(body))[:3, 3]
            J = plant.CalcJacobianSpatialVelocity(context, with_v, body.body_frame(), origin, world, world)
            twists[name] = np.concatenate([J[3:, at.v], J[:3, at.v]])
        M = np.array(plant.CalcMassMatrix(context))
        return Raw(placements, twists, M, np.array(plant.CalcBiasTerm(context)) + gravity, np.array(gravity))


@contextmanager
def _log_kept() -> Iterator[list[str]]:
    """Collect Drake's log, which would otherwise go to standard error."""
    lines: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(_without_place(record.getMessage()))

    log, keeper = logging.getLogger("drake"), Keeper()
    was, log.propagate = log.propagate, False
    log.addHandler(keeper)
    try:
        yield lines
    finally:
        log.removeHandler(keeper)
        log.propagate = was


def _without_place(message: str) -> str:
    """Drake's first message, without the line in a text that differs from the file."""
    return re.sub(r"^<literal-string>\.urdf:\d+: (?:error|warning): ", "", first_line(message))


def _add_packages(packages: Any, source: Source) -> None:
    """The folders in which kinetree looks for packages and models, too."""
    for root in (source.file.absolute().parent, *source.package_roots):
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if folder.is_dir() and not packages.Contains(folder.name):
                packages.Add(folder.name, str(folder.absolute()))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("drake")
    except PackageNotFoundError:
        return ""


def _solid(body: Any) -> Solid:
    inertia = body.default_spatial_inertia()
    mass = float(inertia.get_mass())
    about_origin = np.array(inertia.CalcRotationalInertia().CopyToFullMatrix3())
    return Solid(mass, mass * np.array(inertia.get_com()), about_origin)


def _numbers(joint: Any) -> dict[str, Sequence[float] | None]:
    plain = joint.num_positions() == joint.num_velocities()

    def limits(values: Array) -> tuple[float, ...]:
        return tuple(math.inf if x == math.inf else float(x) for x in values)

    return {
        "lower limit": limits(joint.position_lower_limits()) if plain else None,
        "upper limit": limits(joint.position_upper_limits()) if plain else None,
        "velocity limit": limits(joint.velocity_upper_limits()),
        "damping": tuple(joint.default_damping_vector().tolist()),
    }
