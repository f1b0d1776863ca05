"""Soft constraints of a robot: what touches what, which limits and dry friction act, and how hard."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.contact.build import soft_constraints
    from kinetree.contact.fitting import with_fitted_shapes
    from kinetree.contact.held_frames import anchored
    from kinetree.contact.held_spec import (
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
    from kinetree.contact.inverse_weights import BodyWeight, InverseWeights
    from kinetree.contact.settings import SETTINGS, Compliant, Rigid, Setting, SettingName
    from kinetree.contact.spec import (
        CouplingSpec,
        FrictionSpec,
        LimitSpec,
        SoftConstraints,
        TouchingShape,
        TouchSpec,
        Unsupported,
    )
    from kinetree.contact.tendon_rows import reach_of_tendon
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "build": "soft_constraints",
            "fitting": "with_fitted_shapes",
            "held_frames": "anchored",
            "held_spec": (
                "ConnectionSpec HeldFrame LengthSpec LoopSpec RoundShape TendonCoupling TendonFriction TendonInertia "
                "TendonLimit TendonRow"
            ),
            "inverse_weights": "BodyWeight InverseWeights",
            "settings": "SETTINGS Compliant Rigid Setting SettingName",
            "spec": "CouplingSpec FrictionSpec LimitSpec SoftConstraints TouchingShape TouchSpec Unsupported",
            "tendon_rows": "reach_of_tendon",
        },
    )

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
    "TouchingShape",
    "Unsupported",
    "anchored",
    "reach_of_tendon",
    "soft_constraints",
    "with_fitted_shapes",
]
