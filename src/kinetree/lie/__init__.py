"""Rotations and poses: exponential maps, and attitudes as quaternions, matrices, Euler angles and rotation vectors.

An attitude is the rotation R that takes coordinates of the rotated frame to those of the fixed one, as in a placement.
Arrays may have leading axes, and float32 stays float32. An attitude is written as one of

- "matrix": R (…, 3, 3);
- "quaternion": x, y, z, w (…, 4), kinetree's own order; "quaternion_wxyz": w, x, y, z, the order of MuJoCo and Drake;
- "rotation_vector": (…, 3), rad: a rotation about the vector by its length;
- "ZYX", "XYZ", "ZXZ" or another of the twelve orders: Euler angles q1, q2, q3 (…, 3), rad, as in `kt.joints.Euler`: R =
  Rz(q1) Ry(q2) Rx(q3) for "ZYX", each rotation about an axis as moved by those before it.

>>> import kinetree as kt
>>> kt.lie.convert([0.0, 0.0, 1.0, 1.0], "quaternion", "ZYX").round(6).tolist()
[1.570796, 0.0, 0.0]
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.lie.conversion import convert, jacobian
    from kinetree.lie.exponential_maps import (
        pose_exp,
        pose_exp_jacobian,
        pose_log,
        pose_log_jacobian,
        rotation_exp,
        rotation_exp_jacobian,
        rotation_log,
        rotation_log_jacobian,
    )
    from kinetree.lie.scipy_rotations import from_scipy, to_scipy
    from kinetree.spatial.placement import placement

__all__ = [
    "convert",
    "from_scipy",
    "jacobian",
    "placement",
    "pose_exp",
    "pose_exp_jacobian",
    "pose_log",
    "pose_log_jacobian",
    "rotation_exp",
    "rotation_exp_jacobian",
    "rotation_log",
    "rotation_log_jacobian",
    "to_scipy",
]
