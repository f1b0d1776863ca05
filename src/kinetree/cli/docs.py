"""`kinetree docs`: a page of the documentation in the browser or in the terminal, offline."""

from __future__ import annotations

import re
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from posixpath import normpath

from kinetree.cli import options
from kinetree.cli.output import output_console, print_lines, print_note
from kinetree.cli.view import open_in_browser
from kinetree.errors import NameNotFoundError, nearest_names, quoted
from kinetree.files import write_file
from kinetree.guide import anchor_of, pages_folder, sections

__all__ = ["docs"]

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{place}</title><style>:root {{ color-scheme: light dark; background: light-dark(#fff, #131416) }}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 52rem; margin: auto; padding: 1rem; overflow-wrap: anywhere;
background: inherit; color: light-dark(#222, #ddd) }} :link, :visited {{ color: light-dark(#04c, #8bf) }}
pre, table {{ display: block; overflow-x: auto; border-collapse: collapse; overflow-wrap: normal }}
th, td, pre {{ border: 1px solid #8886; padding: 0.3rem 0.7rem; text-align: left }} img {{ max-width: 100% }}
</style><body><nav><a href="{top}README.html">All pages</a></nav><main>{body}</main></body></html>"""


def docs(page: options.Page = "README", text: options.Text = False, browser: options.Browser = None) -> None:
    """Open a page of the documentation: `kinetree docs contact`, `kinetree docs simulation#controllers`.

    The pages come with kinetree, so this works offline. `kinetree find WORDS` searches them.
    """
    parts = {part.place.replace(".md", "", 1): part for part in sections()}
    pages = {place.removesuffix("/README").rpartition("/")[2]: place for place in parts if "#" not in place}
    name, _, section = page.removeprefix("docs/").replace(".md", "", 1).partition("#")
    name = pages.get(name, name)
    place = f"{name}#{section}".removesuffix("#")
    if name not in parts:
        raise NameNotFoundError(
            f"docs: there is no page {quoted(name)}; {nearest_names(name, {*pages, *pages.values()})}"
        )
    if place not in parts:
        known = [other.partition("#")[2] for other in parts if other.startswith(f"{name}#")]
        raise NameNotFoundError(f"docs: {name} has no section {quoted(section)}; {nearest_names(section, known)}")
    if text:
        from rich.markdown import Markdown

        shown = [part for other, part in parts.items() if place in (other, other.partition("#")[0])]
        output_console().print(Markdown("\n".join(f"## {part.heading}\n{part.text}" for part in shown)))
        return
    print_lines(address := (_rendered() / name).as_uri() + f".html#{section}".removesuffix("#"))
    if not open_in_browser(address, browser):
        print_note("no browser could be opened; with --print the page is printed here")


def _rendered() -> Path:
    """A folder with all pages as HTML: that of the cache, where they are written if they have changed."""
    import hashlib
    import tempfile

    from kinetree.codegen.kept.cache import folder_problem, settings

    folder, now = pages_folder() or Path(), settings()
    places = dict.fromkeys(part.place.partition("#")[0] for part in sections())
    pages = {place: (folder / place).read_text(encoding="utf-8") for place in places}
    key = hashlib.sha256("\0".join([_PAGE, str(folder), *pages.values()]).encode()).hexdigest()
    keeps = now.directory is not None and not now.off and not folder_problem(now.directory)
    target = Path(str(now.directory), "docs") if keeps else Path(tempfile.mkdtemp(prefix="kinetree-docs-"))
    stamp = target / "pages.sha256"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != key:
        target.mkdir(parents=True, exist_ok=True)
        files = {place.replace(".md", ".html"): _html(place, page, pages, folder) for place, page in pages.items()}
        for name, text in {**files, stamp.name: key}.items():
            write_file(target / name, methodcaller("write", text.encode()), within=target)
    return target


def _html(place: str, page: str, pages: dict[str, str], folder: Path) -> str:
    """A page as HTML, with the folder's pictures; where a link's page is not installed, only its text stays."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens, top = markdown.parse(page), "../" * place.count("/")
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", anchor_of(inline.content))
        for token in inline.children or ():
            path, _, section = str(token.attrs.get("href", "")).partition("#")
            target = normpath(f"{place}/../{path}") if path else place
            picture = folder / normpath(f"{place}/../{token.attrs.get('src', '')}")
            if token.type == "image" and picture.suffix == ".webp" and picture.is_file():
                token.attrs["src"] = picture.absolute().as_uri()
            elif token.type == "image":
                token.type, token.content = "text", f"({token.content})"
            elif token.type == "link_open" and "://" not in path:
                token.attrs = {"href": f"{top}{target[:-3]}.html#{section}"} if target in pages else {}
    body = re.sub("<(pre|table)>", r'<\1 tabindex="0">', markdown.renderer.render(tokens, markdown.options, {}))
    return _PAGE.format(place=place, top=top, body=body)
