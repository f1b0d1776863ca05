"""Trajectory optimisation: problems of optimal control, iLQR, and direct collocation."""

from kinetree.control.optimal.collocation import Collocation
from kinetree.control.optimal.ilqr import OptimalMotion, ilqr
from kinetree.control.optimal.problem import OptimalControl, Phase

__all__ = ["Collocation", "OptimalControl", "OptimalMotion", "Phase", "ilqr"]
