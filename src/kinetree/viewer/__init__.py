"""Pages in a browser that show robots and motions."""
