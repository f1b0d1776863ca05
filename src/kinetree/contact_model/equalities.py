"""Equality constraints with the softness that the file gives them: couplings of joints, connections and welds."""

from __future__ import annotations

from kinetree.algorithms.soft_equalities import Turning
from kinetree.contact_model.held_spec import ConnectionSpec, HeldFrame
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.mixing import softness
from kinetree.contact_model.spec import CouplingSpec, Unsupported
from kinetree.errors import ModelError, nearest_names
from kinetree.model import Model
from kinetree.model.extras import Equality
from kinetree.model.reference import reference_configuration
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, quaternion_normalize
from kinetree.tree.holds import Anchor

__all__ = ["active", "anchored", "coefficients_of", "connections", "couplings", "frame_of_site", "other_equalities"]


def couplings(robot: Model, weights: InverseWeights, period: float) -> list[CouplingSpec]:
    """The joints that follow another one, or are held."""
    couplings: list[CouplingSpec] = []
    q0 = reference_configuration(robot)
    for name, one in active(robot, "joint"):
        joints = [robot.joints[joint] for joint in (one.first, one.second) if joint]
        inverse = sum(weights.of_joint(joint.name) for joint in joints)
        reference = [float(q0[joint.q_start]) for joint in joints]
        soft = softness(one.solref, one.solimp, inverse, period)
        couplings.append(
            CouplingSpec(
                name, one.first, one.second or None, coefficients_of(one), (reference[0], sum(reference[1:])), soft
            )
        )
    return couplings


def connections(robot: Model, weights: InverseWeights, period: float) -> list[ConnectionSpec]:
    """The points and the frames that are held together."""
    connections = []
    for name, one in active(robot, "connect", "weld"):
        first, second = _frames(robot, weights, one)
        own, other = weights.of_body(first.body), weights.of_body(second.body)
        turning = Turning(one.torque_scale, own.rotation + other.rotation) if one.kind == "weld" else None
        soft = softness(one.solref, one.solimp, own.translation + other.translation, period)
        connections.append(ConnectionSpec(name, first, second, soft, turning))
    return connections


def other_equalities(robot: Model) -> list[Unsupported]:
    """Equality constraints that have no rows."""
    return [
        Unsupported(
            "equality", name, f"equalities of the kind {one.kind!r} hold deformable bodies, which there are not"
        )
        for name, one in active(robot, "flex", "flexvert", "flexstrain")
    ]


def active(robot: Model, *kinds: str) -> list[tuple[str, Equality]]:
    """The active ones of some kinds, with the names by which they are called."""
    return [
        (one.name or f"equality[{k}]", one)
        for k, one in enumerate(robot.extras.equalities)
        if one.active and one.kind in kinds
    ]


def coefficients_of(one: Equality) -> tuple[float, float, float, float, float]:
    """The polynomial of a coupling; a single length or joint has its constant only."""
    return one.coefficients if one.second else (one.coefficients[0], 0.0, 0.0, 0.0, 0.0)


def _frames(robot: Model, weights: InverseWeights, one: Equality) -> tuple[HeldFrame, HeldFrame]:
    """The two frames whose origins, or which, are held together.

    Between bodies, a connection's anchor is a point of the first, and a weld's one of the second; the other body has
    the frame that coincides with it in the reference configuration, unless the file says where it is.
    """
    if one.between == "site":
        return frame_of_site(robot, one.first), frame_of_site(robot, one.second)
    for name, other in ((one.first, one.second), (one.second, one.first)):
        if name not in robot.bodies:
            raise ModelError(
                f"equality constraint {one.name!r} holds body {other!r} to {name or 'world'!r}, but {robot.name!r} has "
                f"no body of that name: {nearest_names(name, robot.bodies)}"
            )
    anchor = Transform(Mat3.identity(), Vec3(*one.anchor))
    X_1, X_2 = (weights.placement_of(name) for name in (one.first, one.second))
    if one.kind == "connect":
        return HeldFrame(one.first, anchor), HeldFrame(one.second, anchor @ X_1 @ X_2.inverse)
    second = HeldFrame(one.second, anchor)
    if one.relative_position is None or one.relative_rotation is None:
        return HeldFrame(one.first, anchor @ X_2 @ X_1.inverse), second
    R = from_quaternion(*quaternion_normalize(one.relative_rotation))
    return HeldFrame(one.first, Transform(R.T, Vec3(*one.relative_position))), second


def frame_of_site(robot: Model, name: str) -> HeldFrame:
    """The frame of a site, which has another name if something else has the site's."""
    frame = robot.frames[next((site.frame for site in robot.extras.sites if site.name == name), name)]
    return HeldFrame(frame.body, frame.placement @ robot.bodies[frame.body].placement.inverse)


def anchored(robot: Model, frame: HeldFrame) -> Anchor:
    """The frame in the form that algorithms read."""
    body = robot.bodies[frame.body]
    return Anchor(body.slot, frame.placement @ body.placement)
