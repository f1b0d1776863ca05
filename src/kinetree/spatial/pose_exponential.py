"""Poses as homogeneous matrices and as exponential coordinates, and the derivatives between the two.

A motion [v; w] that lasts one unit of time takes the identity to the pose exp([v; w]); the shortest such motion of a
pose is its logarithm. Displacements are applied at the moving end, in its axes, as in `kinetree.spatial.exponential`:
exp(ξ + ε) = exp(ξ) exp(J ε), to first order, and log(T exp(δ)) = log(T) + J⁻¹ δ. Both J and J⁻¹ are [D, C; 0, D],
linear part first.

Source: Solà, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics", arXiv:1812.01537, appendix D.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.spatial.exponential import (
    motion_log,
    rotation_exp,
    rotation_exp_jacobian,
    rotation_log_jacobian,
    translation_exp,
    translation_exp_jacobian,
)
from kinetree.spatial.motion_force import Motion
from kinetree.spatial.rotation_log import quaternion_from_matrix
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Vec3

__all__ = ["pose_exp", "pose_exp_jacobian", "pose_log", "pose_log_jacobian", "transform_of_pose"]


def transform_of_pose(T: Sequence[Scalar]) -> Transform:
    """The transform to a frame from its pose, the numbers of a homogeneous matrix row by row: as `homogeneous` says."""
    R = Mat3(Vec3(*T[0:3]), Vec3(*T[4:7]), Vec3(*T[8:11]))
    return Transform(R.T, Vec3(T[3], T[7], T[11]))


def pose_exp(m: Motion) -> Transform:
    """The transform to the frame that the motion m takes the identity to."""
    return Transform(rotation_exp(m.angular).T, translation_exp(m.angular, m.linear))


def pose_log(X: Transform) -> Motion:
    """The motion, by at most half a turn, that takes the identity to a frame, to which X leads."""
    return Motion(*motion_log(quaternion_from_matrix(X.E.T), X.r))


def pose_exp_jacobian(m: Motion) -> tuple[Mat3, Mat3]:
    """The blocks D and C of J at m."""
    w = m.angular
    return rotation_exp_jacobian(w), rotation_exp(w).T.times(translation_exp_jacobian(w, m.linear))


def pose_log_jacobian(m: Motion) -> tuple[Mat3, Mat3]:
    """The blocks D and C of J⁻¹ at m, by at most half a turn: Jᵣ⁻¹ and -Jₗ⁻¹ slope Jᵣ⁻¹, which are transposes."""
    D = rotation_log_jacobian(m.angular)
    slope = translation_exp_jacobian(m.angular, m.linear)
    return D, Mat3.zero() - D.T.times(slope).times(D)
