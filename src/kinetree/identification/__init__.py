"""Identification of a robot from logs: exciting motions, logs, estimates of inertias and friction, reports.

The parameters themselves are also offered by kinetree: `inertial_parameters`, `base_parameters`, `log_cholesky`.
"""

import importlib
import typing

from kinetree.identification import log_cholesky
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.inertial_parameters import inertial_parameters, with_inertial_parameters

if typing.TYPE_CHECKING:
    from kinetree.identification.estimation.base_estimate import BaseEstimate, base_estimate
    from kinetree.identification.estimation.consistent import ConsistentEstimate, consistent_estimate
    from kinetree.identification.estimation.divergence import divergence
    from kinetree.identification.estimation.regression import Regression
    from kinetree.identification.excitation.fourier import FourierTrajectory
    from kinetree.identification.excitation.search import Excitation, exciting_trajectory
    from kinetree.identification.filtering import filtered
    from kinetree.identification.friction.curve import FrictionCurve
    from kinetree.identification.from_logs import identify
    from kinetree.identification.logs.log import Log, log_of
    from kinetree.identification.logs.reading import read_log
    from kinetree.identification.logs.suspicions import suspicions
    from kinetree.identification.payload import Payload, identify_payload
    from kinetree.identification.report.identification import Identification
    from kinetree.identification.report.validation import Validation
else:
    _LATER = {
        "BaseEstimate": "estimation.base_estimate",
        "ConsistentEstimate": "estimation.consistent",
        "Excitation": "excitation.search",
        "FourierTrajectory": "excitation.fourier",
        "FrictionCurve": "friction.curve",
        "Identification": "report.identification",
        "Log": "logs.log",
        "Payload": "payload",
        "Regression": "estimation.regression",
        "Validation": "report.validation",
        "base_estimate": "estimation.base_estimate",
        "consistent_estimate": "estimation.consistent",
        "divergence": "estimation.divergence",
        "exciting_trajectory": "excitation.search",
        "filtered": "filtering",
        "identify": "from_logs",
        "identify_payload": "payload",
        "log_of": "logs.log",
        "read_log": "logs.reading",
        "suspicions": "logs.suspicions",
    }

    def __getattr__(name):
        """What works on logs, imported when first asked for: most programs only compute."""
        if name in _LATER:
            module = importlib.import_module(f"{__name__}.{_LATER[name]}")
            globals()[name] = found = getattr(module, name)
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, whether they are imported yet or not."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


__all__ = [
    "BaseEstimate",
    "BaseParameters",
    "ConsistentEstimate",
    "Excitation",
    "FourierTrajectory",
    "FrictionCurve",
    "Identification",
    "Log",
    "Payload",
    "Regression",
    "Validation",
    "base_estimate",
    "base_parameters",
    "consistent_estimate",
    "divergence",
    "exciting_trajectory",
    "filtered",
    "identify",
    "identify_payload",
    "inertial_parameters",
    "log_cholesky",
    "log_of",
    "read_log",
    "suspicions",
    "with_inertial_parameters",
]
