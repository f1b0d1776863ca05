"""The changes as methods of a robot; what each does stands in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from kinetree.model.joints import JointKind
    from kinetree.model.model import Model
    from kinetree.spatial import Inertia, Transform

__all__ = ["Changes"]


class Changes:
    """What makes another robot of a robot. Each returns a new one; the first of its `notes` says what was done."""

    __slots__ = ()

    def lock(
        self, joints: str | Sequence[str] | Mapping[str, ArrayLike], q: ArrayLike | None = None
    ) -> Model:  # fmt: skip
        """The robot with some of its joints fixed, without their coordinates: a reduced model.

        Joints that mimic a locked one are locked with it. A coupling is locked by its own name, or by those of all
        its joints; a floating base by "root_joint". What damps, drives or limits a locked joint has nothing left to
        act on.

        Args:
            joints: names of moving joints or couplings; or values by name, in rad or m: a number, or as many as the
                joint or coupling has coordinates.
            q: the configuration (nq,) of this robot that the joints are held at; by default `neutral()`.

        Returns:
            A robot with the other joints, in the same order; bodies and frames keep their names.

        Raises:
            NameNotFoundError: for a name of no joint or coupling.
            ModelError: for a joint that is fixed already, a follower without its leader, or a part of a coupling.
            ShapeError, ConfigurationError: for values that are no configuration.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("double_pendulum")
        >>> pendulum = arm.lock({list(arm.joints)[1]: 0.5})
        >>> pendulum.nq
        1
        """
        from kinetree.model.changes.lock import lock

        return lock(cast("Model", self), joints, q)

    def attach(
        self,
        other: Model,
        to: str,
        placement: Transform | None = None,
        *,
        prefix: str = "",
        joint: JointKind | None = None,
        name: str | None = None,
    ) -> Model:
        """The robot with a whole other one on it.

        Args:
            other: its root is attached, whether its base floats or not; its gravity does not count.
            to: a body or frame of this robot.
            placement: of the joint's fixed side in `to`; by default at its origin, in its axes.
            prefix: put before every name of `other`: names must be different from those here.
            joint: a kind of joint between the two; by default they are fixed to each other.
            name: of that joint.

        Returns:
            A robot whose q is this one's, then that of the joint, then that of `other` without a floating base.

        Raises:
            NameNotFoundError: if there is no body or frame `to`.
            ModelError: for names that both robots have, or something that is no Model, Transform or joint kind.

        >>> import kinetree as kt
        >>> arm, tool = kt.zoo.load("arm6"), kt.zoo.load("double_pendulum")
        >>> arm.attach(tool, "tool", prefix="swing_").nq
        8
        """
        from kinetree.model.changes.attach import attach

        return attach(cast("Model", self), other, to, placement, prefix=prefix, joint=joint, name=name)

    def attach_body(
        self,
        name: str,
        inertia: Inertia,
        to: str,
        placement: Transform | None = None,
        *,
        joint: JointKind | None = None,
    ) -> Model:
        """The robot with one more body on it, such as a payload.

        Args:
            name: of the body.
            inertia: of the body, in its own frame.
            to: a body or frame of this robot.
            placement: of the body's frame in `to`, or of the joint's fixed side if there is one.
            joint: a kind of joint between the two; by default the body is fixed.

        Returns:
            A robot whose q is this one's, then that of the joint.

        Raises:
            NameNotFoundError: if there is no body or frame `to`.
            ModelError: for a name that is taken, or something that is no Inertia, Transform or joint kind.

        >>> import kinetree as kt
        >>> from kinetree.spatial import Inertia, Sym3, Vec3
        >>> arm = kt.zoo.load("arm6")
        >>> loaded = arm.attach_body("bucket", Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.1), Sym3.scalar(0.01)), "tool")
        >>> round(loaded.mass - arm.mass, 9)
        2.0
        """
        from kinetree.model.changes.attach import attach_body

        return attach_body(cast("Model", self), name, inertia, to, placement, joint=joint)

    def detach(self, body: str) -> tuple[Model, Model]:
        """The robot without a body and all that hangs on it, and that part as a robot with a fixed base.

        Frames go with their bodies. The joint above the body is in neither of the two.

        Args:
            body: any body but the root.

        Returns:
            (rest, part); `body` is the root of `part`.

        Raises:
            NameNotFoundError: if there is no such body.
            ModelError: for the root, or if a mimic or a coupling would be torn apart.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> rest, hand = arm.detach(list(arm.joints.values())[4].child)
        >>> rest.nq, hand.nq
        (4, 1)
        """
        from kinetree.model.changes.remove import detach

        return detach(cast("Model", self), body)

    def remove(self, body: str) -> Model:
        """The robot without a body, the joint above it, and all that hangs on it.

        Args:
            body: any body but the root.

        Returns:
            What remains.

        Raises:
            NameNotFoundError: if there is no such body.
            ModelError: for the root, or if what remains mimics a joint that goes or is coupled with it.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> arm.remove(list(arm.joints.values())[4].child).nq
        4
        """
        from kinetree.model.changes.remove import remove

        return remove(cast("Model", self), body)

    def rerooted(self, body: str, *, floating_base: bool | None = None) -> Model:
        """The robot with another body as its root: the joints between the two lead the other way.

        Bodies, frames and joints keep their names, and joints their order. A joint that is turned round moves as
        before, with the same coordinates where they are plain numbers (`JointKind.reversed`). Its two frames exchange
        places, so a massless body stands where none did; it costs nothing.

        Args:
            body: the new root. Its frame is fixed at the world's origin, or moved by the floating base.
            floating_base: whether the base floats; by default as it does now.

        Returns:
            The same robot as seen from that body.

        Raises:
            NameNotFoundError: if there is no such body.
            ModelError: naming a joint that cannot be turned round.
            OptionError: for a `floating_base` that is no bool.

        >>> import kinetree as kt
        >>> dog = kt.zoo.load("quadruped")
        >>> foot = list(dog.joints.values())[-1].child
        >>> dog.rerooted(foot).root == foot
        True
        """
        from kinetree.model.changes.root import rerooted

        return rerooted(cast("Model", self), body, floating_base=floating_base)

    def mirrored(self, normal: str = "y", *, rename: Callable[[str], str] | tuple[str, str] | None = None) -> Model:
        """The mirror image of the robot, in the plane through the root's origin: a left arm from a right one.

        With M the reflection, placements E, r become M E M, M r. Joints keep their limits, springs, friction and
        motors, couplings and mimics their numbers; gravity stays as it is. Joints whose coordinates are plain numbers
        have the same ones in the mirror; where the others go, `mirrored_configuration` tells. Files of meshes stay
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
        from kinetree.model.changes.mirror import mirrored

        return mirrored(cast("Model", self), normal, rename=rename)

    def mirrored_configuration(self, q: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
        """The configuration (…, nq) of `mirrored(normal)` that is the mirror image of q (…, nq) of this robot.

        Equal to q but for joints with quaternions. With T a frame's placement here, it is M T M there.

        Raises:
            OptionError: for another normal than "x", "y" or "z".
            ShapeError, DTypeError, ConfigurationError: for a q that is no configuration.
            ModelError: naming a joint whose coordinates do not tell what they become.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> q = robot.neutral()
        >>> q[1] = 0.5
        >>> float(robot.mirrored_configuration(q, "y")[1])
        -0.5
        """
        from kinetree.model.changes.mirror import mirrored_configuration

        return mirrored_configuration(cast("Model", self), q, normal)

    def mirrored_velocity(self, v: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
        """The velocity (…, nv) of `mirrored(normal)` that is the mirror image of v (…, nv) of this robot.

        Accelerations and joint forces (…, nv) go the same way. Raises as `mirrored_configuration` does.
        """
        from kinetree.model.changes.mirror import mirrored_velocity

        return mirrored_velocity(cast("Model", self), v, normal)

    def scaled(self, length: float, *, mass: float | None = None) -> Model:
        """A larger or smaller robot of the same shape.

        Multiplied by `length`: placements, centres of mass, shapes, pitches and radii of joints, coordinates in
        metres with their limits and springs' rest positions, and velocity limits in m/s; by `mass`: masses;
        inertias by mass and length². Left as they are: gravity, angles, and all that drives or resists joints:
        damping, friction with its speed, stiffness, armature, rotors, effort limits. Where one of two joints that
        mimic each other is in metres, the multiplier follows; coordinates of couplings stay what they are.

        Args:
            length: what lengths are multiplied by.
            mass: what masses are multiplied by; by default length³, which keeps the density.

        Returns:
            The scaled robot.

        Raises:
            OptionError: for factors that are no numbers, or not from 1e-6 to 1e6 (lengths), 1e-18 to 1e18 (masses).
            ModelError: naming a joint whose kind cannot be scaled (`JointKind.scaled`).

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> round(arm.scaled(2.0).mass / arm.mass, 9)
        8.0
        """
        from kinetree.model.changes.scale import scaled

        return scaled(cast("Model", self), length, mass=mass)

    def in_principal_axes(self) -> Model:
        """The robot with every moving body's frame at its centre of mass, along its principal axes.

        Of a body and all that is fixed to it; so each of `tree.I` is diagonal, as in the formulation of serial chains
        in centre-of-mass frames. q, v and joint forces keep their meaning and the dynamics are the same; what is
        expressed in a body's frame is not. Old frames stay as "NAME.origin". Of all principal axes those nearest to
        the old axes are taken. Bodies without mass stay as they are; a floating base becomes a joint on a body
        "world", as the moving body's frame is no longer where its coordinates say.

        Returns:
            The same robot in other axes.

        Source: Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems" (1996), chapter 4.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("double_pendulum").in_principal_axes()
        >>> arm.tree.I[1].h.components(), arm.tree.I[1].I.components()[3:]
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        """
        from kinetree.model.changes.principal_axes import in_principal_axes

        return in_principal_axes(cast("Model", self))
