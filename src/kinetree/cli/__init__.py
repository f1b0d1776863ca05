"""The command `kinetree`: one file per command; each parses, calls one public function and prints."""

from kinetree.cli.app import main

__all__ = ["main"]
