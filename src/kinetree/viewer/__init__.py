"""Pages in a browser, and in files, that show robots and motions."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.viewer.html import save_html
    from kinetree.viewer.live import LivePage
    from kinetree.viewer.view import view
    from kinetree.viewer.viewer import Viewer

__all__ = ["LivePage", "Viewer", "save_html", "view"]
