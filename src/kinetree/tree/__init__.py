"""What an algorithm may ask about a robot: its tree of bodies, written out or looped over."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names

if typing.TYPE_CHECKING:
    from kinetree.tree.clusters import Cluster
    from kinetree.tree.coordinate_map import CoordinateMap
    from kinetree.tree.drive import Drive, Limits
    from kinetree.tree.matrices import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
    from kinetree.tree.one_system import OneSystemTree
    from kinetree.tree.recorded import RecordedTree
    from kinetree.tree.topology import SPACES, Topology
    from kinetree.tree.tree import Tree
    from kinetree.tree.unrolled import UnrolledTree
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "clusters": "Cluster",
            "coordinate_map": "CoordinateMap",
            "drive": "Drive Limits",
            "matrices": "JointBlocks JointColumns JointDiagonal JointRows JointSquare JointSquares",
            "one_system": "OneSystemTree",
            "recorded": "RecordedTree",
            "topology": "SPACES Topology",
            "tree": "Tree",
            "unrolled": "UnrolledTree",
        },
    )

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
