"""Build the site from docs/ and the docstrings: `python docs/site/build.py`, with `--serve` to look at it.

The pages are plain Markdown that can be read on a repository's host, so they contain nothing of the site. The order of
its table of contents is that of docs/README.md. Sphinx gets a copy of the pages in build/site-source, with pages for
the files of the checkout that they link to, and one page per public name. Warnings are errors, and so are links that
lead nowhere. docs/decisions/0075-a-site-from-sphinx.md describes why it is so.
"""

from __future__ import annotations

import argparse
import http.server
import inspect
import json
import re
import shutil
import sys
from functools import partial
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from conf import as_restructured_text
from sphinx.cmd.build import main as sphinx_build

import kinetree
from kinetree.guide import public_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    **{path: path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")},
    DOCS / "README.md": "index.md",
    ROOT / "README.md": "readme.md",
    **{ROOT / f"{name}.md": f"{name.lower()}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")},
}
"""Where each page is in the site."""
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.S | re.M)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_LANGUAGES = {".py": "python", ".c": "c", ".ino": "c", ".md": "markdown", ".txt": "cmake"}


class Site:
    """The files that Sphinx reads, as they are collected."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.files: dict[str, Path] = {}

    def collect(self) -> None:
        for path, place in PAGES.items():
            self.texts[place] = self._relinked(path, place)
        self.texts["index.md"] += self._contents()
        pictures = (path for path in (DOCS / "pictures").rglob("*.webp") if path.is_file())
        self.files |= {path.relative_to(DOCS).as_posix(): path for path in pictures}
        self._api()

    def write(self, folder: Path) -> None:
        """Write what has changed, so that Sphinx reads only that again, and remove what is not a source any more."""
        contents = {place: text.encode() for place, text in self.texts.items()}
        contents |= {place: path.read_bytes() for place, path in self.files.items()}
        for place, content in contents.items():
            target = folder / place
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        for path in folder.rglob("*"):
            if path.is_file() and path.relative_to(folder).as_posix() not in contents:
                path.unlink()

    def _relinked(self, path: Path, place: str) -> str:
        """The text of a page; its links lead to places of the site."""

        def target(match: re.Match[str]) -> str:
            up = "../" * place.count("/")
            return f"]({up}{self._place((path.parent / unquote(match[1])).resolve())}"

        text = re.sub(r"\[[\w./]+\.md\]\((?=[^)\n]*\.md)", "[](", path.read_text(encoding="utf-8"))  # it has its title
        parts = _CODE.split(text)
        return "".join(part if k % 2 else _LINK.sub(target, part) for k, part in enumerate(parts))

    def _place(self, path: Path) -> str:
        """Where the site has a file or folder of the checkout. Other files become pages that show their text."""
        if (path / "README.md").is_file():
            path = path / "README.md"
        if path in PAGES:
            return PAGES[path]
        inside = path.relative_to(ROOT).as_posix()
        if inside.startswith("docs/pictures/"):
            return inside.removeprefix("docs/")
        place = f"files/{inside}.md"
        if place not in self.texts:
            self.texts[place] = ""  # a folder's page lists files whose pages may lead back
            if path.is_dir():
                listed = (x for x in sorted(path.iterdir()) if x.name[0] not in "._" and x.name != "build")
                up = "../" * place.count("/")
                text = "".join(f"- [{x.name}]({up}{self._place(x)})\n" for x in listed)
            else:
                text = f"``````{_LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8')}\n``````\n"
            self.texts[place] = f"---\norphan: true\n---\n\n# {inside}\n\n{text}"
        return place

    def _contents(self) -> str:
        """Tables of contents: a caption for each heading of docs/README.md, with the pages that its tables link to."""
        seen, caption, contents = {"index.md"}, "", dict[str, list[str]]()
        for line in self.texts["index.md"].splitlines():
            if heading := re.match(r"(##+) (.*)", line):
                caption = heading[2] if heading[1] == "##" else f"{caption.partition(':')[0]}: {heading[2].lower()}"
            for place in _LINK.findall(line) if line.startswith("|") else ():
                if place.endswith(".md") and place in self.texts and place not in seen:
                    seen.add(place)
                    contents.setdefault(caption, []).append(
                        f"Installing it <{place}>" * (place == "readme.md") or place
                    )
        tutorials = contents.setdefault("Tutorials", [])
        tutorials += sorted(x for x in self.texts if x.startswith("tutorials/") and x not in seen)
        contents["Reference: every public name"] = ["api/index.rst"]
        for folder in ("algorithms", "decisions"):
            children = sorted(x for x in self.texts if x.startswith(f"{folder}/") and not x.endswith("README.md"))
            self.texts[f"{folder}/README.md"] += _toctree("", [x.partition("/")[2] for x in children])
        return "".join(_toctree(caption, places) for caption, places in contents.items())

    def _api(self) -> None:
        """A page per group of public names, and one per name; names that `kinetree` itself has are described there."""
        groups = [kinetree]
        for group in groups:  # which grows: a group may have groups
            groups += [x for name in group.__all__ if isinstance(x := getattr(group, name), ModuleType)]
        lines = [_title("Every public name"), _API]
        for group in groups:
            short = group.__name__.replace("kinetree", "kt", 1)
            first = (inspect.getdoc(group) or "").partition("\n\n")[0].replace("\n", " ").replace("`", "``")
            lines += [f":doc:`{short} <{group.__name__}/index>`", f"    {first}", ""]
            names = [name for name in group.__all__ if not isinstance(getattr(group, name), ModuleType)]
            pages = {name: _home(group, name) for name in names}
            entries = "\n".join(f"   {name} </api/{home}/{name}>" for name, home in pages.items())
            listed = "\n".join(
                f":doc:`{name} </api/{home}/{name}>`\n    {_first(getattr(group, name))}\n"
                for name, home in pages.items()
            )
            self.texts[f"api/{group.__name__}/index.rst"] = (
                f"{_title(short)}.. py:module:: {group.__name__}\n\n{first}\n\n{listed}\n"
                f".. toctree::\n   :hidden:\n\n{entries}\n"
            )
            for name, home in pages.items():
                if home == group.__name__:
                    directive = _described(getattr(group, name), f"{home}.{name}")
                    self.texts[f"api/{home}/{name}.rst"] = _title(f"{short}.{name}") + directive
        entries = "\n".join(f"   {x.__name__.replace('kinetree', 'kt', 1)} <{x.__name__}/index>" for x in groups)
        self.texts["api/index.rst"] = "\n".join([*lines, ".. toctree::", "   :hidden:", "", entries, ""])


_API = """``import kinetree as kt`` is the first line of every example. ``kt`` has the names that most programs use, the
others are in groups. Each name has a page of its own, which is also what ``help(kt.aba)`` prints.
"""


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"


def _toctree(caption: str, places: list[str]) -> str:
    option = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{option}\n" + "\n".join(places) + "\n```\n"


def _described(value: object, name: str) -> str:
    """The directive that describes a name; members of a class that another page describes are left to that page."""
    if not inspect.isclass(value):
        return f".. autofunction:: {name}\n"
    others = (base.__name__ for base in value.__mro__[1:] if base.__module__.partition(".")[0] != "kinetree")
    public = (base.__name__ for base in value.__mro__[1:] if base.__name__ in public_names())
    return f".. autoclass:: {name}\n   :inherited-members: {', '.join([*others, *public])}\n"


def _home(group: ModuleType, name: str) -> str:
    """The group whose page describes a name: kinetree itself, if it has the name as well."""
    is_most_used = name in kinetree.__all__ and getattr(kinetree, name) is getattr(group, name)
    return "kinetree" if is_most_used else group.__name__


def _first(value: object) -> str:
    """The first sentence of a docstring, as reStructuredText."""
    paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return as_restructured_text(re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0])


class _Links(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors, self.links = set[str](), list[str]()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, _: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken_links(folder: Path) -> list[str]:
    """Links of the pages in a folder, and their anchors, that lead nowhere inside it; others are not looked at."""
    pages = {page.resolve(): _Links(page) for page in folder.rglob("*.html")}
    files, broken = {path.resolve() for path in folder.rglob("*") if path.is_file()}, []
    for page, found in pages.items():
        for link in {*found.links}:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = Path(normpath(page.parent / unquote(url.path))) if url.path else page
            anchors = pages[target].anchors if target in pages else {unquote(url.fragment)}
            if target not in files or (url.fragment and unquote(url.fragment) not in anchors):
                broken.append(f"{page.relative_to(folder.resolve())}: {link}")
    return sorted(broken)


def publish(site: Path, folder: Path) -> None:
    """Put the built site into a folder of versions, and renew its list of versions and its first page."""
    shutil.rmtree(folder / kinetree.__version__, ignore_errors=True)
    shutil.copytree(site, folder / kinetree.__version__)
    versions = [x.parent.name for x in folder.glob("*/searchindex.js")]
    versions.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    (folder / "versions.json").write_text(json.dumps(versions), encoding="utf-8")
    first = (
        f'<!doctype html><title>kinetree</title><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">'
    )
    (folder / "index.html").write_text(first + f'<a href="{versions[0]}/index.html">kinetree</a>', encoding="utf-8")
    (folder / ".nojekyll").touch()  # folders whose names begin with _ are published, too


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the site and check its links.")
    parser.add_argument("--serve", type=int, nargs="?", const=8000, metavar="PORT", help="serve it on this machine")
    parser.add_argument("--publish", type=Path, metavar="FOLDER", help="add it to a folder of versions")
    parser.add_argument("--external", action="store_true", help="check links to other sites instead")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER", help="for all that is made")
    options = parser.parse_args()
    site, source, output = Site(), options.build / "site-source", options.build / "site"
    site.collect()
    site.write(source)
    arguments = ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(Path(__file__).parent)]
    arguments += ["-d", str(options.build / "site-doctrees"), str(source)]
    if options.external:
        return sphinx_build(["-b", "linkcheck", *arguments, str(options.build / "site-links")])
    if code := sphinx_build([*arguments, str(output)]):
        return code
    if broken := broken_links(output):
        print("links that lead nowhere:", *broken, sep="\n", file=sys.stderr)
        return 1
    if options.publish:
        publish(output, options.publish)
    if options.serve:
        serve = partial(http.server.SimpleHTTPRequestHandler, directory=options.publish or output)
        print(f"http://localhost:{options.serve}/ (Ctrl-C ends it)")
        http.server.ThreadingHTTPServer(("localhost", options.serve), serve).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
