"""Mesh files: what they say of triangles, colours and images, one file per format."""

from kinetree.appearance.formats.piece import Piece
from kinetree.appearance.formats.read import SUFFIXES, read_pieces

__all__ = ["SUFFIXES", "Piece", "read_pieces"]
