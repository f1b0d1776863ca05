"""Soft constraints of a robot: pairs that touch, limits and dry friction that act, and how hard."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.contact_model.build import soft_constraints
    from kinetree.contact_model.equalities import anchored
    from kinetree.contact_model.fitting import with_convex_parts, with_fitted_shapes
    from kinetree.contact_model.held_spec import (
        ConnectionSpec,
        HeldFrame,
        LengthSpec,
        LoopSpec,
        RoundShape,
        TendonCoupling,
        TendonFriction,
        TendonInertia,
        TendonLimit,
        TendonRow,
    )
    from kinetree.contact_model.inverse_weights import BodyWeight, InverseWeights
    from kinetree.contact_model.pairs import check_count
    from kinetree.contact_model.settings import SETTINGS, Compliant, Rigid, Setting, SettingName
    from kinetree.contact_model.spec import (
        CouplingSpec,
        FrictionSpec,
        LimitSpec,
        SoftConstraints,
        Unsupported,
    )
    from kinetree.contact_model.tendon_rows import reach_of_tendon
    from kinetree.contact_model.touches import Touches, TouchingShape, TouchSpec

__all__ = [
    "SETTINGS",
    "BodyWeight",
    "Compliant",
    "ConnectionSpec",
    "CouplingSpec",
    "FrictionSpec",
    "HeldFrame",
    "InverseWeights",
    "LengthSpec",
    "LimitSpec",
    "LoopSpec",
    "Rigid",
    "RoundShape",
    "Setting",
    "SettingName",
    "SoftConstraints",
    "TendonCoupling",
    "TendonFriction",
    "TendonInertia",
    "TendonLimit",
    "TendonRow",
    "TouchSpec",
    "Touches",
    "TouchingShape",
    "Unsupported",
    "anchored",
    "check_count",
    "reach_of_tendon",
    "soft_constraints",
    "with_convex_parts",
    "with_fitted_shapes",
]
