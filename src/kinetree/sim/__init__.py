"""Motion in time: torques, stiffness, and the trajectory that comes out."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.functions.rollouts import actuated_rollout
    from kinetree.sim.events import Event
    from kinetree.sim.folder import TrajectoryFolder, load_trajectory
    from kinetree.sim.setting import RK45
    from kinetree.sim.shown import plot
    from kinetree.sim.simulate import simulate
    from kinetree.sim.snapshot import Snapshot
    from kinetree.sim.step_counts import StepCounts
    from kinetree.sim.trajectory import SimulationInterrupted, Trajectory
    from kinetree.sim.wanted import Recording
    from kinetree.sim.watched import Viewing

__all__ = [
    "RK45",
    "Event",
    "Recording",
    "SimulationInterrupted",
    "Snapshot",
    "StepCounts",
    "Trajectory",
    "TrajectoryFolder",
    "Viewing",
    "actuated_rollout",
    "load_trajectory",
    "plot",
    "simulate",
]
