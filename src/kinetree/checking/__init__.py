"""Checking robot files: everything that is wrong, suspicious or worth knowing about one."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.checking.check import check
    from kinetree.checking.report import Report
    from kinetree.io.load import Repaired
    from kinetree.problems import Problem

__all__ = ["Problem", "Repaired", "Report", "check"]
