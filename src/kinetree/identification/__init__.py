"""Identification of inertias from motion: their parameters, which are identifiable, and which are consistent."""

from kinetree.identification import log_cholesky
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.inertial_parameters import inertial_parameters, with_inertial_parameters

__all__ = ["BaseParameters", "base_parameters", "inertial_parameters", "log_cholesky", "with_inertial_parameters"]
