"""Pictures of trajectories: what is drawn, in which panels, and the one edge to matplotlib."""

from kinetree.sim.plots.figures import figure
from kinetree.sim.plots.files import plot

__all__ = ["figure", "plot"]
