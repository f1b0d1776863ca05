"""Pages in a browser, and in files, that show robots and motions."""

from kinetree.viewer.html import save_html
from kinetree.viewer.live import LivePage
from kinetree.viewer.view import view
from kinetree.viewer.viewer import Viewer

__all__ = ["LivePage", "Viewer", "save_html", "view"]
