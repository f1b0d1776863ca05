"""Environments where people already learn: one file per framework, imported when it is asked for."""
