"""Identification of a robot from logs: exciting motions, logs, estimates of inertias and friction, reports.

The parameters themselves are also offered by kinetree: `inertial_parameters`, `base_parameters`, `log_cholesky`.
"""

from kinetree.identification import log_cholesky
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.inertial_parameters import inertial_parameters, with_inertial_parameters
from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.identification.estimation.base_estimate import BaseEstimate, base_estimate
    from kinetree.identification.estimation.consistent import ConsistentEstimate, consistent_estimate
    from kinetree.identification.estimation.divergence import divergence
    from kinetree.identification.estimation.regression import Regression
    from kinetree.identification.excitation.fourier import FourierTrajectory
    from kinetree.identification.excitation.search import Excitation, exciting_trajectory
    from kinetree.identification.filtering import filtered
    from kinetree.identification.friction.curve import FrictionCurve
    from kinetree.identification.from_logs import identify
    from kinetree.identification.logs.arrays import log_of
    from kinetree.identification.logs.log import Log
    from kinetree.identification.logs.reading import read_log
    from kinetree.identification.logs.suspicions import suspicions
    from kinetree.identification.payload import Payload, identify_payload
    from kinetree.identification.report.identification import Identification
    from kinetree.identification.report.validation import Validation


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
