"""Spatial algebra on numbers of any kind. Components are named, so other packages never index a 6-vector."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.spatial.coriolis import CoriolisInertia
    from kinetree.spatial.inertia import ArticulatedInertia, Inertia
    from kinetree.spatial.linear import LDLT
    from kinetree.spatial.motion_force import Force, Motion
    from kinetree.spatial.regressor import Coefficients, ForceColumns
    from kinetree.spatial.subspace import ForceBasis, Subspace
    from kinetree.spatial.transform import Transform
    from kinetree.spatial.turn import Turn
    from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = [
    "LDLT",
    "ArticulatedInertia",
    "Coefficients",
    "CoriolisInertia",
    "Force",
    "ForceBasis",
    "ForceColumns",
    "Inertia",
    "Mat3",
    "Motion",
    "Subspace",
    "Sym3",
    "Transform",
    "Turn",
    "Vec3",
]
