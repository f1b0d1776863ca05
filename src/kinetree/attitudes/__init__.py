"""Attitudes as quaternions, rotation matrices, Euler angles and rotation vectors: conversions and their derivatives.

An attitude is the rotation R that takes coordinates of the rotated frame to those of the fixed one, as in a placement.
Arrays may have leading axes, and float32 stays float32. An attitude is written as one of

- "matrix": R (…, 3, 3);
- "quaternion": x, y, z, w (…, 4), kinetree's own order; "quaternion_wxyz": w, x, y, z, the order of MuJoCo and Drake;
- "rotation_vector": (…, 3), rad: a rotation about the vector by its length;
- "ZYX", "XYZ", "ZXZ" or another of the twelve orders: Euler angles q1, q2, q3 (…, 3), rad, as in `kt.Euler`: R =
  Rz(q1) Ry(q2) Rx(q3) for "ZYX", each rotation about an axis as moved by those before it.

>>> import kinetree as kt
>>> kt.attitudes.convert([0.0, 0.0, 1.0, 1.0], "quaternion", "ZYX").round(6).tolist()
[1.570796, 0.0, 0.0]
"""

from kinetree.attitudes.conversion import convert, jacobian
from kinetree.attitudes.scipy_rotations import from_scipy, to_scipy

__all__ = ["convert", "from_scipy", "jacobian", "to_scipy"]
