"""Mesh files: their triangles, colours and images, one file per format."""

from kinetree.appearance.formats.piece import Piece
from kinetree.appearance.formats.read import SUFFIXES, format_of, read_pieces

__all__ = ["SUFFIXES", "Piece", "format_of", "read_pieces"]
