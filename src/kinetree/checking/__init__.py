"""Checking robot files: everything that is wrong, suspicious or worth knowing about one."""

from kinetree.checking.check import check
from kinetree.checking.report import Report

__all__ = ["Report", "check"]
