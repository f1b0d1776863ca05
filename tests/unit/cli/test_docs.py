"""`kinetree docs`: pages of the documentation in the browser and in the terminal."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from kinetree.cli.docs import _html
from tests.unit.cli.conftest import Command


class Anchors(HTMLParser):
    """Anchors, links and pictures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.pictures = set[str](), list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {found["id"] or ""} if "id" in found else set()
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag == "img":
            self.pictures.append(found["src"] or "")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The addresses that the browser was asked to open; pages are kept in an empty folder."""
    addresses: list[str] = []
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("webbrowser.open", lambda address: bool(addresses.append(address)) or True)
    return addresses


def test_a_section_is_opened_and_all_links_between_pages_lead_somewhere(kinetree: Command, opened: list[str]) -> None:
    shown = kinetree("docs", "simulation.md#controllers", "--browser")
    assert (shown.code, shown.err) == (0, "")
    assert opened == [shown.out.strip()]
    address = urlsplit(opened[0])
    page = Path(unquote(address.path))
    assert address.fragment == "controllers"
    pages = {path: Anchors(path.read_text(encoding="utf-8")) for path in page.parent.rglob("*.html")}
    assert {"simulation.html", "README.html", "algorithms/README.html"} <= {
        path.relative_to(page.parent).as_posix() for path in pages
    }
    assert "controllers" in pages[page].ids
    for path, found in pages.items():
        for link in found.links:
            url = urlsplit(link)
            if not url.scheme:
                target = (path.parent / url.path).resolve()
                assert target in pages, f"{path.name}: {link}"
                assert not url.fragment or unquote(url.fragment) in pages[target].ids, f"{path.name}: {link}"
    assert len(pages[page].pictures) > 0
    assert all(
        Path(unquote(urlsplit(picture).path)).is_file() for found in pages.values() for picture in found.pictures
    )
    written = page.stat().st_mtime_ns
    assert kinetree("docs", "mass_matrix", "--no-browser").out.strip().endswith("/algorithms/mass_matrix.html")
    assert len(opened) == 1
    assert page.stat().st_mtime_ns == written
    folder = Path(unquote(urlsplit(opened[0]).path)).parent
    (folder.parent / "mine.txt").touch()
    kinetree("cache", "clear")
    assert [path.name for path in folder.parent.iterdir()] == ["mine.txt"]


def test_without_a_cache_or_a_browser_the_page_is_still_there(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    shown = kinetree("docs", "--browser")
    assert shown.code == 0
    assert "no browser could be opened" in shown.err
    page = Path(unquote(urlsplit(shown.out.strip()).path))
    assert page.name == "README.html"
    assert page.is_file()


def test_a_page_or_a_section_is_printed(kinetree: Command) -> None:
    section = kinetree("docs", "simulation#controllers", "--print").out
    assert section.lstrip().startswith("Simulating a robot: Controllers")
    assert "control_dt" in section
    page = kinetree("docs", "simulation", "-p").out
    assert "control_dt" in page
    assert len(page) > 3 * len(section)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("simulaton", "there is no page 'simulaton'; did you mean 'simulation'"),
        ("simulation#controlers", "simulation has no section 'controlers'; did you mean 'controllers'"),
        ("../../etc/passwd", "there is no page"),
        ("\x1b[31m", "there is no page '\\x1b[31m'"),
    ],
)
def test_a_page_that_there_is_not(kinetree: Command, page: str, message: str) -> None:
    shown = kinetree("docs", page)
    assert shown.code == 2
    assert message in shown.err


def test_text_of_pages_is_not_markup() -> None:
    page = "# A <b>\n\n<script>x</script> `<i>` [a](javascript:x) [b](other.md) ![c](c.png) [d](there.md#e) [f](#a-b)\n"
    text = _html("algorithms/here.md", page, {"algorithms/there.md": "", "algorithms/here.md": page}, Path())
    body = re.sub(r".*<main>|</main>.*", "", text, flags=re.S)
    assert Anchors(body).links == ["../algorithms/there.html#e", "../algorithms/here.html#a-b"]
    assert "&lt;script&gt;" in body
    assert not re.search(r"<(script|i|b|img)\b", text)
    assert '<h1 id="a-b">A &lt;b&gt;</h1>' in text
