"""Changed robots obey the same mechanics as those they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.model import Rotor
from kinetree.model.changes.common import prefixed
from kinetree.model.fingerprint import fingerprint
from kinetree.model.specs import JointSpec
from kinetree.spatial import Inertia, Transform, Vec3
from tests.laws.reference import body_momentum, close, reference
from tests.strategies import blueprints, inertias, law, moving_trees, numbers, states, transforms, trees, wrenches

Array = NDArray[np.float64]


# -- lock


@law()
@given(moving_trees(), st.data())
def test_a_reduced_robot_is_the_full_one_with_joints_held(case: tuple[kt.Model, kt.Model], data: st.DataObject) -> None:
    full, s = case
    names = data.draw(st.lists(st.sampled_from(list(full.joints)), unique=True))
    reduced = full.lock(names, s.q)
    q, _ = parts_of(full, reduced, s.q)
    keep = [k for name in reduced.joints for k in indices(full.joints[name].v_slice)]
    v, qdd = np.zeros(full.nv), np.zeros(full.nv)
    v[keep], qdd[keep] = s.v[keep], s.qdd[keep]
    H, C = reference(kt.crba, full, s.q), reference(kt.bias_forces, full, s.q, v)

    close(reference(kt.crba, reduced, q), H[np.ix_(keep, keep)], scale=size(H))
    tau = reference(kt.rnea, full, s.q, v, qdd)
    scale = size(np.abs(H) @ np.abs(qdd), C)
    close(reference(kt.rnea, reduced, q, v[keep], qdd[keep]), tau[keep], scale=scale)
    moved = reference(kt.aba, reduced, q, v[keep], s.tau[keep])
    held = H[np.ix_(keep, keep)]
    scale = size(np.abs(held) @ np.abs(moved), C, s.tau)
    close(held @ moved, s.tau[keep] - C[keep], scale=scale, tolerance=1e-10)
    for name in full.frames:
        close(
            reference(kt.frame_placement, reduced, q, frame=name), reference(kt.frame_placement, full, s.q, frame=name)
        )
    close(reduced.mass, full.mass)


@law()
@given(moving_trees(), st.data())
def test_the_order_in_which_joints_are_locked_does_not_matter(
    case: tuple[kt.Model, kt.Model], data: st.DataObject
) -> None:
    full, s = case
    names = data.draw(st.permutations(list(full.joints)))
    n, m = sorted((data.draw(st.integers(0, len(names))), data.draw(st.integers(0, len(names)))))
    first, second = names[:n], names[n:m]
    at_once = full.lock([*first, *second], s.q)
    one = full.lock(first, s.q)
    other = full.lock(second, s.q)
    assert fingerprint(one.lock(second, parts_of(full, one, s.q)[0])) == fingerprint(at_once)
    assert fingerprint(other.lock(first, parts_of(full, other, s.q)[0])) == fingerprint(at_once)


# -- attach, detach, merge


@law()
@given(trees(max_joints=5), trees(max_joints=5, floating=False), transforms(), st.data())
def test_what_was_attached_is_the_same_when_it_is_detached(
    model: kt.Model, other: kt.Model, placement: Transform, data: st.DataObject
) -> None:
    other = kt.ModelBuilder.of(replace(prefixed(other.parts, "other ", base=()), gravity=model.gravity)).build()
    to = data.draw(st.sampled_from(list(model.frames)))
    joint = data.draw(st.sampled_from([None, kt.Revolute([0, 1, 0]), kt.Free()]))
    both = model.attach(other, to, placement, joint=joint)
    assert both.nq == model.nq + other.nq + (joint.nq if joint else 0)
    rest, part = both.detach(other.root)
    assert fingerprint(rest) == fingerprint(model)
    assert fingerprint(part) == fingerprint(other)
    assert fingerprint(both.remove(other.root)) == fingerprint(model)


@law()
@given(blueprints(max_joints=5), inertias(), transforms(), st.data())
def test_a_body_that_is_attached_counts_as_mass_of_the_body_it_is_on(
    blueprint: object, inertia: Inertia, placement: Transform, data: st.DataObject
) -> None:
    model = blueprint.build()
    s = data.draw(states(model))
    to = data.draw(st.sampled_from([*blueprint.bodies, *blueprint.frames]))
    body, X = blueprint.frames.get(to, (to, Transform.identity()))
    heavier = replace(
        blueprint,
        bodies={
            name: own + (placement @ X).back(inertia) if name == body else own for name, own in blueprint.bodies.items()
        },
    ).build()
    loaded = model.attach_body("payload", inertia, to, placement)
    assert loaded.bodies["payload"].is_fixed
    H = reference(kt.crba, heavier, s.q)
    close(reference(kt.crba, loaded, s.q), H)
    tau = reference(kt.rnea, heavier, s.q, s.v, s.qdd)
    close(reference(kt.rnea, loaded, s.q, s.v, s.qdd), tau, scale=size(np.abs(H) @ np.abs(s.qdd)))
    qdd = reference(kt.aba, loaded, s.q, s.v, s.tau)
    C = reference(kt.bias_forces, heavier, s.q, s.v)
    close(H @ qdd + C, s.tau, scale=size(np.abs(H) @ np.abs(qdd), C), tolerance=1e-10)
    close(
        reference(kt.frame_placement, loaded, s.q, frame="payload"),
        reference(kt.frame_placement, model, s.q, frame=to) @ matrix(placement),
    )


@law()
@given(st.data())
def test_merged_robots_move_side_by_side(data: st.DataObject) -> None:
    g = data.draw(st.tuples(numbers(10.0), numbers(10.0), numbers(10.0)))
    plans = [data.draw(blueprints(max_joints=4)) for _ in range(data.draw(st.integers(1, 3)))]
    places = [data.draw(st.none() | transforms()) for _ in plans]
    merged = kt.model.merge(
        [plan.build() for plan in plans],
        name="side by side",
        placements=places,
        prefixes=[f"{k} " for k in range(len(plans))],
        gravity=g,
    )
    # Each as it was, in a world whose gravity is turned as the robot is.
    robots = [
        replace(plan, gravity=((place or Transform.identity()).E @ Vec3(*g)).components()).build()
        for plan, place in zip(plans, places, strict=True)
    ]
    cases = [data.draw(states(robot)) for robot in robots]
    q, v, qdd, tau = (np.concatenate(x) for x in zip(*cases, strict=True))
    H = reference(kt.crba, merged, q)
    expected = np.zeros_like(H)
    start = 0
    for robot, s in zip(robots, cases, strict=True):
        expected[start : start + robot.nv, start : start + robot.nv] = reference(kt.crba, robot, s.q)
        start += robot.nv
    close(H, expected)
    forces = [reference(kt.rnea, robot, s.q, s.v, s.qdd) for robot, s in zip(robots, cases, strict=True)]
    close(reference(kt.rnea, merged, q, v, qdd), np.concatenate(forces), scale=size(np.abs(H) @ np.abs(qdd)))
    moved = [reference(kt.aba, robot, s.q, s.v, s.tau) for robot, s in zip(robots, cases, strict=True)]
    scale = size(
        np.abs(np.linalg.inv(H)) @ size(tau, np.abs(H) @ np.abs(np.concatenate(moved)), *forces).repeat(merged.nv)
    )
    close(reference(kt.aba, merged, q, v, tau), np.concatenate(moved), scale=scale)
    for k, (robot, place, s) in enumerate(zip(robots, places, cases, strict=True)):
        for name in robot.frames:
            close(
                reference(kt.frame_placement, merged, q, frame=f"{k} {name}"),
                matrix(place or Transform.identity()) @ reference(kt.frame_placement, robot, s.q, frame=name),
            )


# -- another root


@law()
@given(blueprints(floating=True, max_joints=5), wrenches(), st.data())
def test_a_floating_robot_with_another_root_moves_as_before(
    blueprint: object, wrench: Array, data: st.DataObject
) -> None:
    # What stands in a free joint's coordinates is refused when the joint is turned round.
    plain = blueprint.with_joints(
        lambda joint: replace(joint, armature=(0.0,) * joint.kind.nv) if not joint.kind.is_flat else joint
    )
    model = plain.build()
    s = data.draw(states(model))
    body = data.draw(st.sampled_from([name for name in model.bodies if invertible(model, name)]))
    moves_as_before(model, body, s.q, s.v, s.tau, {"tool": wrench})


@law()
@given(trees(floating=False, max_joints=5), st.data())
def test_the_first_root_again_is_the_first_robot_again(model: kt.Model, data: st.DataObject) -> None:
    s = data.draw(states(model))
    body = data.draw(st.sampled_from([name for name in model.bodies if invertible(model, name, quaternions=False)]))
    again = model.rerooted(body).rerooted(model.root)
    assert (again.root, again.q_names, again.floating_base) == (model.root, model.q_names, False)
    H = reference(kt.crba, model, s.q)
    close(reference(kt.crba, again, s.q), H)
    tau = reference(kt.rnea, model, s.q, s.v, s.qdd)
    close(reference(kt.rnea, again, s.q, s.v, s.qdd), tau, scale=size(np.abs(H) @ np.abs(s.qdd)))
    for name in model.frames:
        close(
            reference(kt.frame_placement, again, s.q, frame=name), reference(kt.frame_placement, model, s.q, frame=name)
        )


@law()
@given(st.sampled_from([kt.Revolute, kt.Prismatic]), st.sampled_from([-40.0, -0.5, 3.0, 120.0]), st.data())
def test_a_geared_rotor_does_the_same_on_the_other_body(
    sort: type[kt.Revolute | kt.Prismatic], ratio: float, data: st.DataObject
) -> None:
    """About the joint's own axis, or any axis where the joint does not turn."""
    kind = sort([1, 2, 2])
    axis = data.draw(
        st.sampled_from([None, (0.0, 0.6, -0.8)] if sort is kt.Prismatic else [None, (1 / 3, 2 / 3, 2 / 3)])
    )
    builder = kt.ModelBuilder("geared")
    for name in ("a", "b", "c"):
        builder.add_body(name, data.draw(inertias()))
    first, second = data.draw(transforms()), data.draw(transforms())
    builder.add_joint("one", kind, "a", "b", first, rotor=Rotor(0.02, ratio, axis), armature=[0.1])
    builder.add_joint("two", kt.Revolute([0, 1, 0]), "b", "c", second, rotor=Rotor(0.01, 50.0))
    model = builder.build(floating_base=True)
    s = data.draw(states(model))
    moves_as_before(model, data.draw(st.sampled_from(["a", "b", "c"])), s.q, s.v, s.tau, {})


def moves_as_before(model: kt.Model, body: str, q: Array, v: Array, tau: Array, f_ext: dict[str, Array]) -> None:
    """Energies, momentum, and the accelerations of all bodies under the same forces."""
    other = model.rerooted(body)
    assert other.root == body
    q1, v1 = state_of(model, other, q, v)
    close(reference(kt.kinetic_energy, other, q1, v1), reference(kt.kinetic_energy, model, q, v))
    height = 10.0 * model.mass
    close(reference(kt.potential_energy, other, q1), reference(kt.potential_energy, model, q), scale=10.0 * height)
    close(body_momentum(other, q1, v1), body_momentum(model, q, v), scale=10.0 * model.mass)

    # Forces of joints that keep their coordinates act alike.
    force, force1 = np.zeros(model.nv), np.zeros(other.nv)
    for name, joint in model.joints.items():
        if joint.kind.is_flat:
            force[joint.v_slice] = tau[joint.v_slice]
            force1[other.joints[name].v_slice] = tau[joint.v_slice]
    a = reference(kt.aba, model, q, v, force, f_ext=f_ext)
    a1 = reference(kt.aba, other, q1, v1, force1, f_ext=f_ext)
    H = reference(kt.crba, model, q)
    effort = size(np.abs(H) @ np.abs(a), reference(kt.bias_forces, model, q, v, f_ext=f_ext), force)
    scale = max(1.0, effort * float(np.abs(np.linalg.inv(H)).max()))
    for name in model.bodies:
        options = {"frame": name, "expressed_in": "local", "kind": "spatial"}
        close(
            reference(kt.kinematics.frame_acceleration, other, q1, v1, a1, **options),
            reference(kt.kinematics.frame_acceleration, model, q, v, a, **options),
            scale=scale,
            tolerance=1e-10,
        )


def state_of(model: kt.Model, other: kt.Model, q: Array, v: Array) -> tuple[Array, Array]:
    """The same state of a robot with another root."""
    q1, v1 = other.neutral(), np.zeros(other.nv)
    turned = {spec.name for spec in path(model, other.root)}
    for k, (name, joint) in enumerate(other.joints.items()):
        old = model.joints[name]
        if k == 0:
            q1[:7] = pose(reference(kt.frame_placement, model, q, frame=other.root))
            v1[:6] = reference(kt.kinematics.frame_velocity, model, q, v, frame=other.root, expressed_in="local")
        elif name in turned and not joint.kind.is_flat:
            motion = joint.kind.calc(q[old.q_slice].tolist(), v[old.v_slice].tolist())
            back, m = motion.X_J.inverse, -motion.X_J.back(motion.v_J)
            linear = back.E.T @ m.linear if isinstance(joint.kind, kt.joints.FloatingBase) else m.linear
            q1[joint.q_slice] = pose(matrix(back))[-joint.kind.nq :]
            v1[joint.v_slice] = [*linear.components(), *m.angular.components()][-joint.kind.nv :]
        else:
            q1[joint.q_slice], v1[joint.v_slice] = q[old.q_slice], v[old.v_slice]
    return q1, v1


def path(model: kt.Model, body: str) -> list[JointSpec]:
    above = {spec.child: spec for spec in model.parts.joints}
    found = []
    while body in above:
        found.append(above[body])
        body = found[-1].parent
    return found


def invertible(model: kt.Model, body: str, quaternions: bool = True) -> bool:
    """Whether the joints that lead there can be turned round, and `state_of` knows their coordinates."""
    known = (kt.Free, kt.joints.FloatingBase, kt.joints.Spherical) if quaternions else ()
    kinds = [spec.kind for spec in path(model, body)]
    return all(kind.reversed() is not None and (kind.is_flat or isinstance(kind, known)) for kind in kinds)


def parts_of(full: kt.Model, reduced: kt.Model, q: Array) -> tuple[Array, Sequence[int]]:
    """The coordinates of a reduced robot, and where they are among those of the full one."""
    places = [k for name in reduced.joints for k in indices(full.joints[name].q_slice)]
    return q[places], places


def indices(part: slice) -> range:
    return range(part.start, part.stop)


def matrix(X: Transform) -> Array:
    return np.array(X.homogeneous(), dtype=np.float64).reshape(4, 4)


def pose(T: Array) -> Array:
    """Position and quaternion of a placement: the quaternion is the eigenvector of a symmetric matrix (Bar-Itzhack)."""
    R = T[:3, :3]
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[3, 3] = np.trace(R)
    return np.concatenate([T[:3, 3], np.linalg.eigh(K)[1][:, -1]])


def size(*terms: Array) -> np.float64:
    return np.float64(max(float(np.abs(term).max(initial=0.0)) for term in terms))
