"""Motion in time: torques, stiffness, and the trajectory that comes out."""

from kinetree.sim.plot import plot
from kinetree.sim.simulate import simulate
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory

__all__ = ["SimulationInterrupted", "Trajectory", "plot", "simulate"]
