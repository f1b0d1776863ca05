"""The robot as people have it: with its changes, its conditioning, and equality."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import html_of, registered
from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.guide import UnknownName
from kinetree.inputs import plain, refuse_symbols
from kinetree.joints import JointKind
from kinetree.locks import restoring
from kinetree.model import changes, named_states, quaternions
from kinetree.model import conditioning as conditions
from kinetree.model.building import build
from kinetree.model.changes import Changed
from kinetree.model.elements import CHANGED
from kinetree.model.equality import are_equal, hash_of, without_places
from kinetree.model.interning import key_of, restored
from kinetree.model.parameters import nominal, parameter_names
from kinetree.model.robot import Robot, vector
from kinetree.model.text import describe
from kinetree.records import record
from kinetree.spatial import Inertia
from kinetree.spatial.poses import Pose

if TYPE_CHECKING:
    from kinetree.model.changes import Scenery

__all__ = ["Model", "check_robot"]


@record(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Model(Robot):
    """A robot. Made by `kinetree.load`, `kinetree.zoo` or a `ModelBuilder`; never changed afterwards."""

    INSTEAD: ClassVar[Mapping[str, str]] = {
        "gravity": "make another with robot.with_gravity((x, y, z)), or give parameters={'gravity': …} with a call",
        "mass": "make another with robot.scaled(1.0, mass=…), or give parameters={'body.NAME.mass': …} with a call",
        "floating_base": "load it again with floating_base=True or False, or use robot.rerooted",
        "actuated": "make another with robot.with_actuation({joint: True or False})",
        **dict.fromkeys(
            ("lower", "upper", "effort_limit", "velocity_limit", "limits"),
            "change its file, or its parts: kt.ModelBuilder.of(parts).build(), with parts from robot.parts",
        ),
        "": CHANGED,
    }
    """Ways to another robot, by the attribute that somebody tried to set."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _FIELDS:
                self._assemble()
                return object.__getattribute__(self, name)
            raise UnknownName(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @classmethod
    def of(cls, change: Changed | Scenery) -> Model:
        """The robot that a change leads to."""
        if isinstance(change, Changed):
            return cls(**build(change.parts, known=change.known))
        model = object.__new__(cls)
        model._keep("_scenery", change)
        alone = change.last.alone
        if change.may_clash or (alone is not None and build(alone)["singular_joints"]):
            model._assemble()
        return model

    def _assemble(self) -> None:
        """Put the robot and the things in its world together."""
        with restoring:
            scenery = getattr(self, "_scenery", None)
            if scenery is not None:  # or another thread was quicker
                change = scenery.changed()
                Model.__init__(self, **build(change.parts, known=change.known))
                object.__delattr__(self, "_scenery")

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str | None:
        """The form in notebooks: a picture and the text; None, and so the text alone, where none can be drawn."""
        return html_of(describe(self), registered("png_of_robot")(self))

    @property
    def parameter_names(self) -> list[str]:
        """Valid names for inputs in `parameters`: "gravity", "body.NAME.mass" and so on."""
        return parameter_names(self)

    def parameter(self, name: str) -> NDArray[np.float64]:
        """The robot's own value of a parameter, such as "gravity" (3,) or "body.NAME.mass" ().

        Raises `NameNotFoundError` for a name that is not among `parameter_names`.

        >>> import kinetree as kt
        >>> kt.zoo.load("double_pendulum").parameter("gravity").tolist()
        [0.0, 0.0, -9.81]
        """
        return nominal(self, name)

    def group(self, name: str) -> list[str]:
        """The moving joints of a group, in the order of q: those it names, those of its chains and of its subgroups.

        Groups come from an SRDF file, `kt.load(path, srdf=…)`; `robot.extras.groups` holds them as in the file.

        Raises:
            NameNotFoundError: If the robot has no such group.
        """
        return named_states.group(self, name)

    def named_configuration(
        self, name: str, *, group: str | None = None, q: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The configuration (nq,) that an SRDF file gives a name, such as "home"; see `kt.load(path, srdf=…)`.

        Args:
            name: One of `robot.extras.named_states`.
            group: Its group, if states of several groups have this name.
            q: Configuration of all other joints, (nq,); by default their neutral configuration.

        Joints that mimic others follow them, regardless of the file; values for a floating base count only if the base
        of this robot floats.

        Raises:
            NameNotFoundError: If the robot has no such state.
            ModelError: If several groups have it and none is named.
            ShapeError, DTypeError, ConfigurationError: For a q that is not a configuration.

        >>> import kinetree as kt
        >>> from kinetree.model.extras import Extras, JointValues, NamedState
        >>> builder = kt.ModelBuilder.of(kt.zoo.load("double_pendulum"))
        >>> builder.extras = Extras(named_states=(NamedState("up", "arm", (JointValues("elbow", (0.5,)),)),))
        >>> builder.build().named_configuration("up").tolist()
        [0.0, 0.5]
        """
        return named_states.named_configuration(self, name, group, q)

    def rechart(self, q: ArrayLike, v: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same state (q (…, nq), v (…, nv)) in coordinates far from their singularities; leading axes broadcast.

        Only joints of kind `ExponentialMap` change, and only where |q| is more than 3 π / 2: the rotation and the
        angular velocity stay the same, with |q| <= π. Users' kinds may define a `rechart` of their own.

        >>> import kinetree as kt
        >>> builder = kt.ModelBuilder("ball")
        >>> builder.add_body("base")
        >>> builder.add_body("ball", kt.solids.sphere(0.1, mass=1.0))
        >>> builder.add_joint("joint", kt.joints.ExponentialMap(), "base", "ball")
        >>> q, v = builder.build().rechart([3.0, 3.0, 3.0], [1.0, 1.0, 1.0])
        >>> q.round(3).tolist(), v.round(3).tolist()
        ([-0.628, -0.628, -0.628], [1.0, 1.0, 1.0])
        """
        refuse_symbols("rechart: which coordinates change", "recharted states go into programs as arguments", q, v)
        return conditions.rechart(self, self._configuration("q", q), vector(self, "v", v, self.nv))

    def quaternion(self, q: ArrayLike, name: str) -> NDArray[Any]:
        """The quaternion (…, 4), x, y, z, w, of a joint in q (…, nq), as it is there: of any length.

        Args:
            q: Configurations; float32 stays float32.
            name: The joint, or the body that it moves; a joint's name counts first.

        Raises:
            NameNotFoundError: If the robot has no such joint or body, or it has no quaternion; the message names those
                that have.
            ShapeError, DTypeError: For a q that is not (…, nq).

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> robot.quaternion(robot.neutral(), "root_joint").tolist()
        [0.0, 0.0, 0.0, 1.0]
        """
        return quaternions.quaternion(self, q, name)

    def with_quaternion(self, q: ArrayLike, name: str, quaternion: ArrayLike) -> NDArray[Any]:
        """A copy of q (…, nq) with the quaternion of a joint replaced.

        Args:
            q: Configurations.
            name: The joint, or the body that it moves, as in `quaternion`.
            quaternion: x, y, z, w (…, 4), of any nonzero length; it is stored as given. `kt.lie.convert` makes
                one from angles, a matrix, a rotation vector or another order.

        Returns:
            (…, nq), the leading axes of both broadcast; float32 if both are.

        Raises:
            NameNotFoundError, ShapeError, DTypeError: As `quaternion` does, and for quaternions that are not (…, 4).
            ConfigurationError: For a quaternion of zero length.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> turned = kt.lie.convert([0.5, 0.0, 0.0], "ZYX", "quaternion")
        >>> q = robot.with_quaternion(robot.neutral(), robot.root, turned)
        >>> float(kt.lie.convert(robot.quaternion(q, robot.root), "quaternion", "ZYX")[0])
        0.5
        """
        return quaternions.with_quaternion(self, q, name, quaternion)

    def conditioning(self, q: ArrayLike) -> NDArray[np.float64]:
        """How far each joint is from a singularity of its coordinates at q (…, nq): (…, number of joints).

        The smallest over the largest singular value of the joint's motion subspace S(q), after the longest of the
        rotational columns, and of the purely translational ones, is scaled to length one: 1 is best, and 0 is singular,
        where some rates of the coordinates move nothing. Near there forward dynamics gives accelerations that grow as
        one over this number, or over its square where joint forces act on these coordinates, with correspondingly less
        accuracy; at a singularity itself forces have no answer unless they are zero along the lost directions of the
        joint, and `aba` raises a `ConfigurationError`. Kinematics and inverse dynamics are exact everywhere. By kind of
        joint:

        - one degree of freedom, `Fixed`, `Free`, `FloatingBase`, `Spherical`: never singular;
        - `Euler`: q2 = ±90° if its three letters differ, q2 = 0 or 180° if the first is repeated;
        - `FreeRPY`: pitch = ±90°; `Ellipsoid`: q2 = ±90°;
        - `ExponentialMap`: |q| = 2 π, 4 π, …; `rechart` keeps away from them.

        >>> import kinetree as kt
        >>> kt.zoo.load("double_pendulum").conditioning([0.1, 0.2]).tolist()
        [1.0, 1.0]
        """
        refuse_symbols("conditioning: a ratio of singular values", "ask about results of the program, outside", q)
        return conditions.conditioning(self, self._configuration("q", q))

    def near_singular(self, q: ArrayLike, below: float = 1e-3) -> list[str]:
        """The names of the joints whose `conditioning` at q (nq,) is less than `below`."""
        refuse_symbols("near_singular: which joints are", "ask about results of the program, outside", q)
        numbers = self._configuration("q", q)
        if numbers.ndim != 1:
            raise ShapeError(f"near_singular takes one configuration of shape ({self.nq},), not {numbers.shape}")
        limit = plain(below)
        if type(limit) is not float or math.isnan(limit):
            raise OptionError(f"near_singular: below must be a number, not {below!r:.60}")
        values = conditions.conditioning(self, numbers)
        return [name for name, x in zip(self.joints, values, strict=True) if x < limit]

    # Changes: each gives a new robot, and the first of its `notes` describes the change.

    def lock(
        self, joints: str | Sequence[str] | Mapping[str, ArrayLike], q: ArrayLike | None = None
    ) -> Model:  # fmt: skip
        """The robot with some of its joints fixed, without their coordinates: a reduced model.

        Joints that mimic a locked one are locked with it. A coupling is locked by its own name, or by those of all
        its joints; a floating base by "root_joint". Damping, drives and limits of a locked joint have no effect.

        Args:
            joints: names of moving joints or couplings; or values by name, in rad or m: a number, or as many as the
                joint or coupling has coordinates.
            q: the configuration (nq,) of this robot that the joints are held at; by default `neutral()`.

        Returns:
            A robot with the other joints, in the same order; bodies and frames keep their names.

        Raises:
            NameNotFoundError: for a name of no joint or coupling.
            ModelError: for a joint that is fixed already, a follower without its leader, or a part of a coupling.
            ShapeError, ConfigurationError: for values that are not a configuration.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("double_pendulum")
        >>> pendulum = arm.lock({list(arm.joints)[1]: 0.5})
        >>> pendulum.nq
        1
        """
        return Model.of(changes.lock(self, joints, q))

    def with_actuation(self, motors: Mapping[str, bool | Sequence[bool]]) -> Model:
        """The robot with motors on other degrees of freedom.

        Args:
            motors: by joint or coupling, whether it has motors: True, False, or one of them per degree of freedom. The
                others stay as they are. A floating base has none: to give it motors, build the robot with a free joint
                on a massless root.

        Returns:
            The same robot with another `actuated`.

        Raises:
            NameNotFoundError: for a name of no joint or coupling.
            ModelError: for a joint without coordinates of its own, the joint of a floating base, and flags that are not
                True or False, or not as many as there are degrees of freedom.

        >>> import kinetree as kt
        >>> kt.zoo.load("cart_pole").with_actuation({"hinge": False}).actuated.tolist()
        [True, False]
        """
        return Model.of(changes.with_actuation(self, motors))

    def with_motors(self, joints: Iterable[str] | None = None) -> Model:
        """The robot with motors at its joints: actuators whose command is a force, within the joint's effort limit.

        They are for robots whose files have no actuators, such as URDF. `ctrl` of `kt.rollout`,
        `kt.dynamics.actuator_forces` and sensors take their commands, in the order of `robot.extras.actuators`; each is
        named after its joint. A ball joint has three of them, one per axis.

        Args:
            joints: names of the joints that get one; by default all that have a motor (`robot.actuated`), and no
                actuator yet.

        Returns:
            The same robot with more actuators. The range of a command (N·m, N) is from minus to plus the effort limit,
            and unbounded without a limit.

        Raises:
            NameNotFoundError: for a name of no joint that moves.
            ModelError: for a joint that has no motor, has an actuator already, has an effort limit of zero, or has
                several degrees of freedom and is not a ball joint; and if no joint remains.

        Source: MuJoCo documentation, "XML Reference", actuator/motor; version 4.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6").with_motors()
        >>> arm.extras.actuators["elbow_pitch"].control_range == (-arm.effort_limit[2], arm.effort_limit[2])
        True
        >>> kt.dynamics.actuator_forces(arm, arm.neutral(), [0.0] * 6, [1.0] * 6).tau.tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
        """
        return Model.of(changes.with_motors(self, joints))

    def with_servos(self, kp: ArrayLike, kd: ArrayLike, joints: Iterable[str] | None = None) -> Model:
        """The robot with servos at its joints: actuators whose command is a position, or a velocity where kp is 0.

        Their force is kp (ctrl - q) - kd q̇, or kd (ctrl - q̇) where kp is 0, within the joint's effort limit: those of
        `<position>` and `<velocity>` in an MJCF file. Integrators that are implicit in damping and stiffness take them
        so, unlike `kt.dynamics.servo`, which is a program. See `with_motors` for commands.

        Args:
            kp: stiffness, one for all or one per joint; N·m/rad, N/m.
            kd: damping, one for all or one per joint; N·m·s/rad, N·s/m.
            joints: names of the joints that get one, as for `with_motors`.

        Returns:
            The same robot with more actuators. The range of a command is that of the joint's positions (rad, m), if it
            ends on both sides; or from minus to plus its velocity limit (rad/s, m/s) where kp is 0.

        Raises:
            OptionError: a gain is negative or not finite, or kp and kd of a joint are both zero.
            ShapeError: gains are neither one number nor one per joint.
            DTypeError: gains are not real numbers.
            NameNotFoundError, ModelError: as for `with_motors`.

        Source: MuJoCo documentation, "XML Reference", actuator/position and actuator/velocity; version 4.

        >>> import kinetree as kt, numpy as np
        >>> pole = kt.zoo.load("cart_pole").with_servos(kp=100.0, kd=20.0, joints=["slider"])
        >>> states = kt.rollout(pole, pole.neutral(), [0.0, 0.0], None, 0.01, ctrl=np.full((300, 1), 0.5))
        >>> round(float(states[-1, 0]), 2)
        0.5
        """
        return Model.of(changes.with_servos(self, kp, kd, joints))

    def with_gravity(self, gravity: Sequence[float]) -> Model:
        """The robot under another acceleration of free fall.

        Args:
            gravity: (3,), m/s², in the world's axes: (0, 0, -1.62) on the moon, (0, 0, 0) without weight.

        Raises:
            ModelError: unless it is three finite numbers.

        To vary it from sample to sample without another robot, give `parameters={"gravity": …}` with a call.

        >>> import kinetree as kt
        >>> moon = kt.zoo.load("double_pendulum").with_gravity((0, 0, -1.62))
        >>> moon.gravity
        (0.0, 0.0, -1.62)
        """
        return Model.of(changes.with_gravity(self, gravity))

    def on_ground(
        self,
        height: float = 0.0,
        *,
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        friction: float | Sequence[float] | None = None,
        name: str = "ground",
    ) -> Model:
        """The robot in a world with a ground: a plane without end, which all shapes for collisions may touch.

        The plane is a shape of the root. A robot with a floating base gets a massless root "world" (with underscores,
        if it has such a body), on which its base's joint is a free one; q and v keep their order and names.

        Args:
            height: of the point of the plane on the z axis of the world, m.
            normal: (3,), upward out of the ground, of any length; (-1, 0, 2) is a slope that falls along -x.
            friction: coefficient of sliding friction, or up to three: of sliding, torsion (m) and rolling (m). They
                override those of the robot's shapes, and 0 is a ground without friction. By default the larger of 1 and
                the shape's own.
            name: of the plane. A second one makes a corner or a valley.

        Raises:
            ModelError: for a shape of that name, numbers that are not finite, a normal without a direction, and
                negative friction.
            DTypeError: an argument is not an array of real numbers.

        Contacts act where they are asked for, as `contact=True` of `kt.rollout` and `kt.simulate`.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped").on_ground(friction=0.8)
        >>> dog.root, dog.nq
        ('world', 19)
        """
        return Model.of(changes.on_ground(self, height, normal=normal, friction=friction, name=name))

    def with_elastic_joint(self, name: str, stiffness: float, damping: float, rotor_inertia: float) -> Model:
        """The robot with a spring between the motor of a joint and its load: a series-elastic joint.

        The joint keeps its name, place, limits, friction, actuators and sensors, on the side of the motor; its
        coordinate is that of the motor, θ, after the gear. A second joint, NAME_spring, comes last, whose coordinate is
        the deflection δ: the link is at θ + δ. It has no motor, and its spring and damper act wherever passive forces
        do: in `simulate` by default, in `aba` with `passive=True`.

        Args:
            name: a joint with one degree of freedom.
            stiffness: of the spring, N·m/rad or N/m.
            damping: parallel to the spring, N·m·s/rad or N·s/m.
            rotor_inertia: inertia that turns with the motor, reflected through the gear (times the ratio squared);
                kg·m² or kg. It takes the place of the joint's `armature` and `rotor`.

        Returns:
            A robot whose q is this one's, then the deflection.

        Raises:
            NameNotFoundError: the robot has no such joint.
            ModelError: it has several degrees of freedom, follows another one, or has a spring of its own.
            OptionError: stiffness and rotor_inertia are not positive, or damping is negative.

        Source: Spong, "Modeling and control of elastic joint robots" (1987): the rotor's kinetic energy is that of its
        own spin alone.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6").with_elastic_joint("elbow_pitch", stiffness=5e3, damping=10.0, rotor_inertia=0.3)
        >>> arm.q_names[-1], bool(arm.actuated[-1])
        ('elbow_pitch_spring', False)
        """
        return Model.of(changes.with_elastic_joint(self, name, stiffness, damping, rotor_inertia))

    def with_contacts(self, bodies: Iterable[str]) -> Model:
        """The robot in which only some of the moving bodies touch each other or fixed bodies.

        Args:
            bodies: their names, such as `robot.bodies.matching("*foot*")`. Explicit pairs of shapes on other bodies are
                left out. Shapes keep their role, so that `kt.contact.distance` knows them.

        Raises:
            NameNotFoundError: if the robot has no such body.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped").on_ground()
        >>> feet = dog.with_contacts(dog.bodies.matching("shank"))
        >>> len(kt.contact.soft_constraints(dog).touches), len(kt.contact.soft_constraints(feet).touches)
        (24, 10)
        """
        return Model.of(changes.with_contacts(self, bodies))

    def without_self_contact(self) -> Model:
        """The robot whose moving bodies touch only bodies fixed in the world.

        Bodies that move, of several robots too, exclude each other; explicit pairs between them are left out.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped").on_ground()
        >>> robots = dog, dog.without_self_contact()
        >>> tuple(len(kt.contact.soft_constraints(robot).touches) for robot in robots)
        (24, 18)
        """
        return Model.of(changes.without_self_contact(self))

    def on_slope(
        self,
        angle: float,
        *,
        toward: float = 0.0,
        height: float = 0.0,
        friction: float | Sequence[float] | None = None,
        name: str = "ground",
    ) -> Model:
        """The robot in a world whose ground is a slope: `on_ground` with the normal that the angles give.

        Args:
            angle: by which it is steep, rad, between -pi/2 and pi/2; a negative one rises.
            toward: the direction in which it falls, rad: 0 along x, pi/2 along y.
            height, friction, name: as for `on_ground`.

        Raises:
            ModelError, DTypeError: as `on_ground` does, and for an angle that is not between -pi/2 and pi/2.

        >>> import kinetree as kt
        >>> doll = kt.zoo.load("ragdoll").on_slope(0.35)
        >>> [round(x, 3) for x in doll.bodies["world"].geometry[0].placement.E.z.components()]
        [0.343, 0.0, 0.939]
        """
        return Model.of(
            changes.on_slope(self, angle, toward=toward, height=height, friction=friction, name=name)
        )  # fmt: skip

    def on_terrain(
        self,
        heights: ArrayLike | None = None,
        *,
        size: Sequence[float] = (8.0, 8.0),
        spacing: float = 0.5,
        steepness: float = 0.2,
        seed: int = 0,
        friction: float | Sequence[float] | None = None,
        name: str = "terrain",
    ) -> Model:
        """The robot in a world with an uneven ground: heights on a grid, between which it is made of triangles.

        As a plane of `on_ground`, it is a fixed shape; beyond its edges the world has no ground. Edges between
        triangles jolt what crosses them; `with_smooth_terrain` makes the ground smooth.

        Args:
            heights: (rows, columns), m, the rows from the smallest y on, and in each the smallest x first. By default
                smooth hills, of height zero in the middle.
            size: the lengths along x and y (2,), m, with the world's origin in the middle.
            spacing: of the heights of hills, m; a quarter of the shortest wave. A contact looks at all heights, so
                narrow ones over a long way cost time.
            steepness: the root of the mean square of the slope of hills: 0.2 is rough, 1 is 45 degrees.
            seed: which hills: a whole number.
            friction, name: as for `on_ground`.

        Raises:
            ModelError: for heights that are not a grid of finite numbers, a size that is not two lengths, or a name
                that is taken.
            OptionError: for a spacing or steepness that is not positive, or a seed that is not a whole number.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6").on_terrain(seed=3)
        >>> arm.notes[0]
        "put on the terrain 'terrain', 17 x 17 heights over 8 m x 8 m, on 'base'"
        """
        return Model.of(
            changes.on_terrain(
                self, heights, size=size, spacing=spacing, steepness=steepness, seed=seed, friction=friction, name=name
            )
        )

    def with_smooth_terrain(self) -> Model:
        """The robot with height fields that are smooth where things touch them: those of `on_terrain` and of files.

        Things touch a surface through the heights whose slope changes continuously, so a foot is not jolted where it
        crosses an edge between two triangles, and forces have no jumps. Between heights that jump, as those of stairs,
        the surface swings out by up to an eighth of the jump. Pictures and rays have the triangles.

        Raises:
            ModelError: the robot has no height field.

        Source: Catmull and Rom, "A class of local interpolating splines" (1974), in Barnhill and Riesenfeld (eds.),
        Computer Aided Geometric Design.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped").on_terrain(seed=3).with_smooth_terrain()
        >>> dog.notes[0]
        'made 1 height field smooth'
        """
        return Model.of(changes.with_smooth_terrain(self))

    def beside(self, other: Model, placement: Pose | None = None, *, prefix: str = "") -> Model:
        """The robot with another one in its world, which keeps its base: one that floats goes on floating.

        Shapes of the two may touch each other. To put it on the robot instead, use `attach`; `kt.model.merge` puts
        several robots on a new root.

        Args:
            other: a robot, or a scene.
            placement: of the other's world in this one, a `Transform` or an array (4, 4); by default the same. The
                other's base floats from there: its coordinates are those that it has alone.
            prefix: put before every name of `other`: names must be different from those here.

        Returns:
            A scene whose q is this one's, then that of `other`. Gravity is this one's.

        Raises:
            ModelError: for names that both have, or something that is not a Model or a placement.

        >>> import kinetree as kt
        >>> pair = kt.zoo.load("arm6").beside(kt.zoo.load("quadruped"), kt.lie.placement((1.0, 0.0, 0.0)))
        >>> pair.nq, pair.root
        (25, 'base')
        """
        return Model.of(changes.beside(self, other, placement, prefix=prefix))

    def with_free_body(
        self,
        shape: str,
        size: float | Sequence[float],
        placement: Pose | None = None,
        *,
        mass: float | None = None,
        density: float | None = None,
        friction: float | Sequence[float] | None = None,
        name: str = "object",
    ) -> Model:
        """The robot with a loose thing in its world: a uniform solid on a free joint, which touches all that it meets.

        Args:
            shape: "box", "sphere", "capsule", "cylinder" or "ellipsoid".
            size: its lengths, m, as `kt.solids` takes them: a box's edges, a radius, a radius and a length, half axes.
            placement: where its coordinates are zero, a `Transform` or an array (4, 4); by default at the origin.
            mass, density: kg, or kg/m³; one of the two.
            friction: as for `on_ground`; by default the usual one, 1.
            name: of the body and its shape; its joint is called "NAME_joint".

        Returns:
            A scene whose q is this one's, then the seven coordinates of the thing.

        Raises:
            ModelError: for another shape, a size that is not its own, or a name that is taken.
            OptionError: unless one of mass and density is given, and positive.

        >>> import kinetree as kt
        >>> scene = kt.zoo.load("arm6").with_free_body("sphere", 0.05, kt.lie.placement((0.5, 0.0, 0.05)), mass=0.2)
        >>> scene.nq, scene.q_names[-7]
        (13, 'object_joint.x')
        """
        return Model.of(
            changes.with_free_body(
                self, shape, size, placement, mass=mass, density=density, friction=friction, name=name
            )
        )

    def with_obstacle(
        self,
        shape: str,
        size: float | Sequence[float],
        placement: Pose | None = None,
        *,
        friction: float | Sequence[float] | None = None,
        name: str = "obstacle",
    ) -> Model:
        """The robot with a shape in its world that does not move, such as a step, a wall or a table.

        All shapes for collisions may touch it. It is a shape of the root, as a ground is.

        Args:
            shape, size: as for `with_free_body`.
            placement: of its centre and axes in the world, a `Transform` or an array (4, 4); by default at the origin.
            friction: as for `on_ground`.
            name: of the shape.

        Raises:
            ModelError: for another shape, a size that is not its own, or a name that is taken.

        >>> import kinetree as kt
        >>> step = kt.lie.placement((0.6, 0.0, 0.05))
        >>> scene = kt.zoo.load("quadruped").on_ground().with_obstacle("box", (0.3, 1.0, 0.1), step, name="step")
        >>> [shape.name for shape in scene.bodies["world"].geometry]
        ['ground', 'step']
        """
        return Model.of(
            changes.with_obstacle(self, shape, size, placement, friction=friction, name=name)
        )  # fmt: skip

    def with_alternatives(self, body: str, objects: Mapping[str, Model]) -> Model:
        """The robot in which a body may be one of several objects: a table of them, with a number per sample.

        The body as it is has the number 0 and its own name; the others follow in order. The robot is as before until
        the parameter "body.NAME.alternative" says which object a sample has, or `with_present` makes another one the
        robot's own. See `kinetree docs parameters_objects`.

        Args:
            body: its name, such as "object" of `with_free_body`.
            objects: robots of one rigid body each, by the names that they get as alternatives: such as
                `kt.load("mug.urdf")`, or those of a `kt.ModelBuilder`. Their inertia and shapes come with the frame of
                their body, which takes the place of this body's frame.

        Raises:
            NameNotFoundError: the robot has no such body.
            ModelError: an alternative has joints, no name of its own, or no mass; or it has mass where the body does
                not move freely in the world: there the shapes alone may differ.

        >>> import kinetree as kt
        >>> builder = kt.ModelBuilder("can")
        >>> shape = kt.model.Geometry("collision", "cylinder", (0.03, 0.1), kt.Transform.identity(), "can")
        >>> builder.add_body("can", kt.solids.cylinder(0.03, 0.1, mass=0.3), geometry=[shape])
        >>> robot = kt.zoo.load("arm6").with_free_body("sphere", 0.04, mass=0.1, name="ball")
        >>> robot = robot.with_alternatives("ball", {"can": builder.build()})
        >>> [one.name for one in robot.bodies["ball"].alternatives]
        ['ball', 'can']
        >>> which = {"body.ball.alternative": [0, 1]}
        >>> kt.mass_matrix(robot, robot.neutral(), parameters=which)[:, -6, -6].tolist()
        [0.1, 0.3]
        """
        return Model.of(changes.with_alternatives(self, body, objects))

    def with_present(self, body: str, which: int | str) -> Model:
        """The robot in which another of a body's alternatives is present, where no parameter says which one is.

        Args:
            body: its name.
            which: the number or the name of the alternative (`with_alternatives`).

        Raises:
            NameNotFoundError: the robot has no such body, or the body no such alternative.
            ModelError, OptionError: the body has no alternatives, or none of this number.
        """
        return Model.of(changes.with_present(self, body, which))

    def with_mocap(self, poses: Mapping[str, Pose] | str) -> Model:
        """The robot with its mocap bodies somewhere else: those of an MJCF file that are moved from outside.

        They have no joints: their pose belongs to the robot, and everything on them goes with them. Each pose is
        compiled again; as a parameter, "body.NAME.placement", or "body.NAME.placement[:]" with one pose per step of a
        rollout, it is an input. See `kinetree docs scenes`.

        Args:
            poses: by body, its placement where the file has it, in the world: a `Transform` or an array (4, 4). Or the
                name of a keyframe, which places all of them.

        Raises:
            NameNotFoundError: for a name of no mocap body, or of no keyframe.
            ModelError: if the robot has no mocap bodies, or an argument is not a pose.

        >>> import kinetree as kt, tempfile, pathlib
        >>> text = '<mujoco><worldbody><body name="hand" mocap="true"><geom size="0.1"/></body></worldbody></mujoco>'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "hand.xml"
        ...     _ = path.write_text(text)
        ...     robot = kt.load(path).with_mocap({"hand": kt.lie.placement((0.0, 0.0, 0.5))})
        >>> kt.frame_placement(robot, robot.neutral(), "hand")[2, 3].item()
        0.5
        """
        return Model.of(changes.with_mocap(self, poses))

    def attach(
        self,
        other: Model,
        to: str,
        placement: Pose | None = None,
        *,
        prefix: str = "",
        joint: JointKind | None = None,
        name: str | None = None,
    ) -> Model:
        """The robot with a whole other one on it.

        Args:
            other: its root is attached, whether its base floats or not; its gravity does not count.
            to: a body or frame of this robot.
            placement: of the joint's fixed side in `to`, a `Transform` or an array (4, 4); by default at its origin,
                in its axes.
            prefix: put before every name of `other`: names must be different from those here.
            joint: a kind of joint between the two; by default they are fixed to each other.
            name: of that joint.

        Returns:
            A robot whose q is this one's, then that of the joint, then that of `other` without a floating base.

        Raises:
            NameNotFoundError: if the robot has no body or frame `to`.
            ModelError: for names that both robots have, or something that is not a Model, a placement or a joint kind.

        >>> import kinetree as kt
        >>> arm, tool = kt.zoo.load("arm6"), kt.zoo.load("double_pendulum")
        >>> arm.attach(tool, "tool", prefix="swing_").nq
        8
        """
        return Model.of(changes.attach(self, other, to, placement, prefix=prefix, joint=joint, name=name))

    def attach_body(
        self,
        name: str,
        inertia: Inertia,
        to: str,
        placement: Pose | None = None,
        *,
        joint: JointKind | None = None,
    ) -> Model:
        """The robot with one more body on it, such as a payload.

        Args:
            name: of the body.
            inertia: of the body, in its own frame.
            to: a body or frame of this robot.
            placement: of the body's frame in `to`, or of the joint's fixed side if there is one: a `Transform` or an
                array (4, 4); by default at its origin, in its axes.
            joint: a kind of joint between the two; by default the body is fixed.

        Returns:
            A robot whose q is this one's, then that of the joint.

        Raises:
            NameNotFoundError: if the robot has no body or frame `to`.
            ModelError: for a name that is taken, or something that is not an Inertia, a placement or a joint kind.

        >>> import kinetree as kt
        >>> from kinetree.spatial import Inertia, Sym3, Vec3
        >>> arm = kt.zoo.load("arm6")
        >>> loaded = arm.attach_body("bucket", Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.1), Sym3.scalar(0.01)), "tool")
        >>> round(loaded.mass - arm.mass, 9)
        2.0
        """
        return Model.of(changes.attach_body(self, name, inertia, to, placement, joint=joint))

    def detach(self, body: str) -> tuple[Model, Model]:
        """The robot without a body and all that hangs on it, and that part as a robot with a fixed base.

        Frames go with their bodies. The joint above the body is in neither of the two.

        Args:
            body: any body but the root.

        Returns:
            (rest, part); `body` is the root of `part`.

        Raises:
            NameNotFoundError: if the robot has no such body.
            ModelError: for the root, or if a mimic or a coupling would be torn apart.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> rest, hand = arm.detach(list(arm.joints.values())[4].child)
        >>> rest.nq, hand.nq
        (4, 1)
        """
        rest, part = changes.detach(self, body)
        return Model.of(rest), Model.of(part)

    def remove(self, body: str) -> Model:
        """The robot without a body, the joint above it, and all that hangs on it.

        Args:
            body: any body but the root.

        Returns:
            The remaining robot.

        Raises:
            NameNotFoundError: if the robot has no such body.
            ModelError: for the root, or if a remaining joint mimics a removed one or is coupled with it.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> arm.remove(list(arm.joints.values())[4].child).nq
        4
        """
        return Model.of(changes.remove(self, body))

    def rerooted(self, body: str, *, floating_base: bool | None = None) -> Model:
        """The robot with another body as its root: the joints between the two lead the other way.

        Bodies, frames and joints keep their names, and joints their order. A joint that is turned round moves as
        before, with the same coordinates where they are plain numbers (`JointKind.reversed`). Its two frames exchange
        places, so a massless body is added, which costs nothing.

        Args:
            body: the new root. Its frame is fixed at the world's origin, or moved by the floating base.
            floating_base: whether the base floats; by default as it does now.

        Returns:
            The same robot as seen from that body.

        Raises:
            NameNotFoundError: if the robot has no such body.
            ModelError: naming a joint that cannot be turned round.
            OptionError: for a `floating_base` that is not a bool.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped")
        >>> foot = list(dog.joints.values())[-1].child
        >>> dog.rerooted(foot).root == foot
        True
        """
        return Model.of(changes.rerooted(self, body, floating_base=floating_base))

    def mirrored(self, normal: str = "y", *, rename: Callable[[str], str] | tuple[str, str] | None = None) -> Model:
        """The mirror image of the robot, in the plane through the root's origin: a left arm from a right one.

        With M the reflection, placements E, r become M E M, M r. Joints keep their limits, springs, friction and
        motors, couplings and mimics their numbers; gravity stays as it is. Joints whose coordinates are plain numbers
        have the same ones in the mirror; `mirrored_configuration` gives the others. Files of meshes stay
        as they are: the scale of a mesh turns negative across the mirror.

        Args:
            normal: "x", "y" or "z", the axis of the root's frame across the mirror.
            rename: a function from a name to another, or two words that are exchanged wherever they occur in names
                of bodies, joints, frames, couplings and their coordinates, such as ("left", "right"). The robot's own
                name stays.

        Returns:
            The mirror image.

        Raises:
            OptionError: for another normal, or a `rename` that is neither.
            ModelError: naming a joint whose kind has no mirror image (`JointKind.mirrored`), or two parts to which
                `rename` gives one name.

        >>> import kinetree as kt
        >>> right = kt.zoo.load("quadruped").mirrored("y", rename=("left", "right"))
        >>> "mirrored" in right.notes[0]
        True
        """
        return Model.of(changes.mirrored(self, normal, rename=rename))

    def mirrored_configuration(self, q: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
        """The configuration (…, nq) of `mirrored(normal)` that is the mirror image of q (…, nq) of this robot.

        Equal to q except for joints with quaternions. With T a frame's placement here, it is M T M there.

        Raises:
            OptionError: for another normal than "x", "y" or "z".
            ShapeError, DTypeError, ConfigurationError: for a q that is not a configuration.
            ModelError: naming a joint whose mirrored coordinates are not defined.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> q = robot.neutral()
        >>> q[1] = 0.5
        >>> float(robot.mirrored_configuration(q, "y")[1])
        -0.5
        """
        return changes.mirrored_configuration(self, q, normal)

    def mirrored_velocity(self, v: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
        """The velocity (…, nv) of `mirrored(normal)` that is the mirror image of v (…, nv) of this robot.

        Accelerations and joint forces (…, nv) go the same way. Raises as `mirrored_configuration` does.
        """
        return changes.mirrored_velocity(self, v, normal)

    def scaled(self, length: float, *, mass: float | None = None) -> Model:
        """A larger or smaller robot of the same shape.

        Multiplied by `length`: placements, centres of mass, shapes, pitches and radii of joints, coordinates in
        metres with their limits and springs' rest positions, and velocity limits in m/s; by `mass`: masses;
        inertias by mass and length². Left as they are: gravity, angles, and all that drives or resists joints:
        damping, friction with its speed, stiffness, armature, rotors, effort limits. Where one of two joints that
        mimic each other is in metres, the multiplier follows; coordinates of couplings are unchanged.

        Args:
            length: factor of lengths.
            mass: factor of masses; by default length³, which keeps the density.

        Returns:
            The scaled robot.

        Raises:
            OptionError: for factors that are not numbers, or not from 1e-6 to 1e6 (lengths), 1e-18 to 1e18 (masses).
            ModelError: naming a joint whose kind cannot be scaled (`JointKind.scaled`).

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> round(arm.scaled(2.0).mass / arm.mass, 9)
        8.0
        """
        return Model.of(changes.scaled(self, length, mass=mass))

    def in_principal_axes(self) -> Model:
        """The robot with every moving body's frame at its centre of mass, along its principal axes.

        Of a body and all that is fixed to it; so each of `tree.I` is diagonal, as in the formulation of serial chains
        in centre-of-mass frames. q, v and joint forces keep their meaning and the dynamics are the same; quantities
        expressed in a body's frame change. Old frames stay as "NAME.origin". Of all principal axes those nearest to the
        old axes are taken. Bodies without mass stay as they are; a floating base becomes a joint on a body "world", as
        the moving body's frame is no longer where its coordinates say.

        Returns:
            The same robot in other axes.

        Source: Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems" (1996), chapter 4.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("double_pendulum").in_principal_axes()
        >>> arm.tree.I[1].h.components(), arm.tree.I[1].I.components()[3:]
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        """
        return Model.of(changes.in_principal_axes(self))

    # Equality, hash, copies and pickles.

    def __eq__(self, other: object) -> bool:
        """Whether the two are made of the same parts.

        >>> import kinetree as kt
        >>> kt.zoo.load("arm6") == kt.zoo.load("arm6")
        True
        """
        if self is other:
            return True
        return are_equal(self, other) if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        """Equal for equal robots. It is computed once; like the hashes of strings, it differs between processes."""
        try:
            return self._hash
        except AttributeError:
            return self._keep("_hash", hash_of(self.parts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all fields, so that nothing is rebuilt or warned about again; places in a file are stored as text."""
        parts = without_places(self.parts)
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return restored, (type(self), key_of(self, parts), {**values, "parts": parts})

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        """An equal robot that is a separate object, unlike one restored from a pickle."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self)(**deepcopy({**values, "parts": without_places(self.parts)}, memo))

    def __copy__(self) -> Model:
        """The model itself, which is immutable."""
        return self


_FIELDS = frozenset(entry.name for entry in fields(Model))


def check_robot(robot: object) -> Model:
    """The robot, or an error if the first argument is not one."""
    if not isinstance(robot, Model):
        raise DTypeError(f"the first argument must be a robot (from kt.load or kt.zoo), not {type(robot).__name__}")
    return robot
