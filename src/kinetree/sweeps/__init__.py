"""Studies of many motions: varied quantities, workers, and the results on disk."""

from kinetree.sweeps.study import Study, load_study
from kinetree.sweeps.sweep import sweep
from kinetree.sweeps.variations import Anywhere, Grid, LogUniform, Normal, Uniform

__all__ = ["Anywhere", "Grid", "LogUniform", "Normal", "Study", "Uniform", "load_study", "sweep"]
