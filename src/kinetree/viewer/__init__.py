"""Pages in a browser that show robots and motions."""

from kinetree.viewer.view import view
from kinetree.viewer.viewer import Viewer

__all__ = ["Viewer", "view"]
