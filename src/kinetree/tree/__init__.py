"""What an algorithm may ask about a robot: its tree of bodies, written out or looped over."""

from kinetree.tree.clusters import Cluster
from kinetree.tree.coordinate_map import CoordinateMap
from kinetree.tree.drive import Drive, Limits
from kinetree.tree.matrices import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
from kinetree.tree.topology import SPACES, Topology
from kinetree.tree.tree import Tree
from kinetree.tree.unrolled import UnrolledTree

__all__ = [
    "SPACES",
    "Cluster",
    "CoordinateMap",
    "Drive",
    "JointBlocks",
    "JointColumns",
    "JointDiagonal",
    "JointRows",
    "JointSquare",
    "JointSquares",
    "Limits",
    "Topology",
    "Tree",
    "UnrolledTree",
]
