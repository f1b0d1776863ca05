"""Plots of motions over time: what is drawn, in which panels."""

from kinetree.plots.figures import figure, plot

__all__ = ["figure", "plot"]
