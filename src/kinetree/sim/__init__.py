"""Motion in time: torques, stiffness, and the trajectory that comes out."""

from kinetree.sim.events import Event
from kinetree.sim.folder import TrajectoryFolder, load_trajectory
from kinetree.sim.opened_file import TrajectoryFile
from kinetree.sim.plots import plot
from kinetree.sim.simulate import simulate
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.step_counts import StepCounts
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory

__all__ = [
    "Event",
    "SimulationInterrupted",
    "Snapshot",
    "StepCounts",
    "Trajectory",
    "TrajectoryFile",
    "TrajectoryFolder",
    "load_trajectory",
    "plot",
    "simulate",
]
