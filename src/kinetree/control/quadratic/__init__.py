"""Quadratic programs: the small interface in `quadratic_program.py`, and kinetree's solver."""

from kinetree.control.quadratic.quadratic_program import QuadraticSolution, quadratic_program

__all__ = ["QuadraticSolution", "quadratic_program"]
