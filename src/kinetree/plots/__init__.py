"""Plots of motions over time: the quantities and their panels."""

from kinetree.plots.figures import figure, plot

__all__ = ["figure", "plot"]
