"""Soft constraints of a robot: what touches what, which limits and dry friction act, and how hard."""

from kinetree.contact.build import soft_constraints
from kinetree.contact.inverse_weights import BodyWeight, InverseWeights
from kinetree.contact.spec import (
    CouplingSpec,
    FrictionSpec,
    LimitSpec,
    SoftConstraints,
    TouchingShape,
    TouchSpec,
    Unsupported,
)

__all__ = [
    "BodyWeight",
    "CouplingSpec",
    "FrictionSpec",
    "InverseWeights",
    "LimitSpec",
    "SoftConstraints",
    "TouchSpec",
    "TouchingShape",
    "Unsupported",
    "soft_constraints",
]
