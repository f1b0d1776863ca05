"""Functions of CasADi: symbolic ones, which CasADi differentiates, and compiled ones with derivatives of ours."""

from kinetree.interop.casadi.functions import adapted, to_casadi

__all__ = ["adapted", "to_casadi"]
