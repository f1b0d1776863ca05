"""SciPy's rotations, which are imported only here, and only if one is made."""

from __future__ import annotations

from typing import Any

from kinetree.errors import MissingPackageError

__all__ = ["scipy_rotation"]


def scipy_rotation(quaternions: Any) -> Any:
    """The `scipy.spatial.transform.Rotation` of quaternions x, y, z, w (…, 4); it raises ValueError for odd shapes."""
    try:
        from scipy.spatial.transform import Rotation
    except ImportError:
        raise MissingPackageError("to_scipy needs SciPy: pip install scipy") from None
    return Rotation.from_quat(quaternions)
