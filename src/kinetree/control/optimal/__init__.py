"""Trajectory optimisation: problems of optimal control, iLQR, and direct collocation."""

from kinetree.control.optimal.collocation import Collocation
from kinetree.control.optimal.ilqr import OptimalMotion, ilqr
from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl

__all__ = ["Collocation", "OptimalControl", "OptimalMotion", "Phase", "ilqr"]
