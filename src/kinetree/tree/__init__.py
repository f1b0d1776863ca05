"""An algorithm's interface to a robot: its tree of bodies, written out or looped over."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.tree.clusters import Cluster
    from kinetree.tree.coordinate_map import CoordinateMap
    from kinetree.tree.drive import Drive, Limits
    from kinetree.tree.matrices import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
    from kinetree.tree.recorded import OneSystemTree, RecordedTree
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
    "OneSystemTree",
    "RecordedTree",
    "Topology",
    "Tree",
    "UnrolledTree",
]
