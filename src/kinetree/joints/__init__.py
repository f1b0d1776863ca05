"""The kinds of joint, one file each."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.joints.base import JointKind, JointMotion
    from kinetree.joints.composite import Composite
    from kinetree.joints.cylindrical import Cylindrical
    from kinetree.joints.ellipsoid import Ellipsoid
    from kinetree.joints.euler import Euler
    from kinetree.joints.exponential_map import ExponentialMap
    from kinetree.joints.fixed import Fixed
    from kinetree.joints.floating_base import FloatingBase
    from kinetree.joints.free import Free
    from kinetree.joints.free_rpy import FreeRPY
    from kinetree.joints.helical import Helical
    from kinetree.joints.multi_dof import MultiDof
    from kinetree.joints.placed import Placed
    from kinetree.joints.planar import Planar
    from kinetree.joints.prismatic import Prismatic
    from kinetree.joints.reversed import Reversed
    from kinetree.joints.revolute import Continuous, Revolute
    from kinetree.joints.screw import Screw
    from kinetree.joints.spherical import Spherical
    from kinetree.joints.translation import Translation
    from kinetree.joints.universal import Universal

__all__ = [
    "Composite",
    "Continuous",
    "Cylindrical",
    "Ellipsoid",
    "Euler",
    "ExponentialMap",
    "Fixed",
    "FloatingBase",
    "Free",
    "FreeRPY",
    "Helical",
    "JointKind",
    "JointMotion",
    "MultiDof",
    "Placed",
    "Planar",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Screw",
    "Spherical",
    "Translation",
    "Universal",
]
