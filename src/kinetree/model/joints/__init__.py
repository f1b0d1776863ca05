"""The kinds of joint, one file each."""

from kinetree.model.joints.base import JointKind, JointMotion
from kinetree.model.joints.fixed import Fixed
from kinetree.model.joints.free import Free
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Continuous, Revolute

__all__ = ["Continuous", "Fixed", "Free", "JointKind", "JointMotion", "Prismatic", "Revolute"]
