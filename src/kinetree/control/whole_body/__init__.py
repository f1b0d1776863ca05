"""Whole-body control: quadratic programs for robots on contacts."""

from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.momentum import Momentum
from kinetree.control.whole_body.prescribed_motion import PrescribedMotion, prescribed_motion
from kinetree.control.whole_body.result import WholeBodyStep
from kinetree.control.whole_body.support import Support
from kinetree.control.whole_body.whole_body import WholeBody

__all__ = ["Effort", "Momentum", "PrescribedMotion", "Support", "WholeBody", "WholeBodyStep", "prescribed_motion"]
