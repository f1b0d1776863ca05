"""Soft constraints of a robot: what touches what, which limits and dry friction act, and how hard."""

from kinetree.contact.spec import CouplingSpec, FrictionSpec, LimitSpec, SoftConstraints, TouchSpec

__all__ = ["CouplingSpec", "FrictionSpec", "LimitSpec", "SoftConstraints", "TouchSpec"]
