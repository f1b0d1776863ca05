"""The kinds of joint, one file each."""

from kinetree.model.joints.base import JointKind, JointMotion
from kinetree.model.joints.composite import Composite
from kinetree.model.joints.cylindrical import Cylindrical
from kinetree.model.joints.ellipsoid import Ellipsoid
from kinetree.model.joints.euler import Euler
from kinetree.model.joints.exponential_map import ExponentialMap
from kinetree.model.joints.fixed import Fixed
from kinetree.model.joints.floating_base import FloatingBase
from kinetree.model.joints.free import Free
from kinetree.model.joints.free_rpy import FreeRPY
from kinetree.model.joints.helical import Helical
from kinetree.model.joints.multi_dof import MultiDof
from kinetree.model.joints.placed import Placed
from kinetree.model.joints.planar import Planar
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.reversed import Reversed
from kinetree.model.joints.revolute import Continuous, Revolute
from kinetree.model.joints.screw import Screw
from kinetree.model.joints.spherical import Spherical
from kinetree.model.joints.translation import Translation
from kinetree.model.joints.universal import Universal

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
