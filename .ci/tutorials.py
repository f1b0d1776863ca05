"""Make notebooks of the pages in docs/tutorials: `python .ci/tutorials.py FOLDER`, with `--run` to run them there.

A notebook has the page's text and blocks of Python. Where the page shows output or a picture that a block before it
made, the notebook has the output itself. `--run` compares the output of each block with the page. `--renew` writes it
into the page instead, and makes docs/pictures/tutorials anew from the files that the blocks wrote: PAGE_NAME.webp from
NAME.png or NAME.mp4.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PICTURES = ROOT / "docs" / "pictures" / "tutorials"
_BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.S | re.M)
_DISPLAY = "```python\nfrom IPython.display import {0}\n\n{0}({1})\n```"
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]\d+)?")
_ROUGHLY = {"learning": 0.3}
"""A training ends elsewhere where the processor rounds differently."""
_PICTURE = re.compile(r"^!\[([^\]]*)\]\(\.\./pictures/tutorials/(\w+)\.webp\)$", re.M)


class Block(NamedTuple):
    """A block of Python of a page, and what the page says that it prints."""

    code: str
    printed: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, which run one after another in one namespace."""
    return [Block(code, printed) for code, printed in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def repository() -> str:
    """The address of the repository on its host, from the one place that has it; "" while that is empty."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"].get("metadata", {})
    return str(metadata.get("hooks", {}).get("custom", {}).get("repository", "")).rstrip("/")


def notebook(page: Path) -> Any:
    """A page as a notebook, without outputs."""
    import jupytext

    address, text = repository(), page.read_text(encoding="utf-8")

    def shown(match: re.Match[str]) -> str:
        begun = "".join(code for code, _ in _BLOCK.findall(text[: match.start()]))
        name = f"{match[2].partition('_')[2]}.png"
        if f'"{name}"' not in begun:  # the film at the top of a page, which a later block makes
            return match[0] if address else ""
        return _DISPLAY.format("Image", f'"{name}"')

    def run_here(match: re.Match[str]) -> str:
        films = re.findall(r'"\w+\.mp4"', match[1])
        return f"```python\n{match[1]}```" + "".join(
            f"\n\n{_DISPLAY.format('Video', f'{x}, embed=True')}" for x in films
        )

    text = _PICTURE.sub(shown, text)
    text = _BLOCK.sub(run_here, text)
    text = re.sub(r"^```sh\n(.*?)^```$", r"~~~sh\n\1~~~", text, flags=re.S | re.M)  # not to be run
    if address:
        base = f"{address}/blob/HEAD/docs/tutorials/"
        text = re.sub(r"(!\[[^\]]*\]\()(?!\w+:|#)", rf"\1{base.replace('/blob/', '/raw/')}", text)
        text = re.sub(r"((?<!!)\[[^\]]*\]\()(?!\w+:|#)", rf"\1{base}", text)
        colab = f"{address.replace('github.com', 'colab.research.google.com/github')}/blob/notebooks/{page.stem}.ipynb"
        badge = f"[![open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})"
        text = re.sub(r"^(# .*\n)", rf"\1\n{badge}\n", text)
    made = jupytext.reads(text, fmt="md")
    needs = re.search(r"pip install '(kinetree\[[\w,]+\])'", text)
    assert needs is not None, f"{page.name} does not say what it needs: pip install 'kinetree[…]'"
    install: Any = {"cell_type": "code", "source": f"%pip install -q '{needs[1]}'", "metadata": {"tags": ["install"]}}
    made.cells.insert(1, type(made)({**install, "execution_count": None, "outputs": [], "id": "install"}))
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def run(made: Any, folder: Path) -> list[str]:
    """Run a notebook in a folder, except for the cell that installs; what each cell printed, in order."""
    from nbclient import NotebookClient

    whole = list(made.cells)
    made.cells = [cell for cell in whole if "install" not in cell.metadata.get("tags", ())]
    NotebookClient(made, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    made.cells = whole
    cells = [cell for cell in whole if cell.cell_type == "code" and not cell.source.startswith(("%", "from IPython"))]
    return ["".join(x.text for x in cell.outputs if x.get("name") == "stdout") for cell in cells]


def compare(page: Path, outputs: list[str]) -> None:
    """Check that the page shows the output of each of its blocks; numbers may differ by a last digit, or 1 %."""
    most = _ROUGHLY.get(page.stem, 0.01)
    for block, printed in zip(blocks(page), outputs, strict=True):
        message = f"{page.name} shows\n{block.printed}and its block prints\n{printed}"
        assert _NUMBER.sub("", printed) == _NUMBER.sub("", block.printed), message
        for shown, found in zip(_NUMBER.findall(block.printed), _NUMBER.findall(printed), strict=True):
            mantissa, _, power = shown.partition("e")
            digit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
            assert abs(float(found) - float(shown)) <= max(1.01 * digit, most * abs(float(shown))), message


def renew(page: Path, outputs: list[str], folder: Path, most: int = 60_000) -> None:
    """Write the outputs of a page into it, and its pictures, in at most so many bytes each."""
    import av
    from PIL import Image

    given = iter(outputs)

    def shown(match: re.Match[str]) -> str:
        printed = next(given)
        return f"```python\n{match[1]}```" + (f"\n\n```text\n{printed}```" if printed else "")

    page.write_text(_BLOCK.sub(shown, page.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for _, name in _PICTURE.findall(page.read_text(encoding="utf-8")):
        stem, target = folder / name.partition("_")[2], PICTURES / f"{name}.webp"
        if (film := stem.with_suffix(".mp4")).exists():
            with av.open(film) as file:
                frames = [frame.to_image().resize((400, 225)) for frame in file.decode(video=0)]
                rate = float(file.streams.video[0].average_rate or 30)
            for step in range(2, 12, 2):
                few = frames[::step]
                few[0].save(
                    target, save_all=True, append_images=few[1:], duration=round(1000 * step / rate), loop=0,
                    quality=40, method=4,
                )  # fmt: skip
                if target.stat().st_size < most:
                    break
        else:
            picture = Image.open(stem.with_suffix(".png")).convert("RGB")
            picture.thumbnail((1000, 900))
            picture.save(target, quality=70, method=6)
        assert target.stat().st_size < most, f"{target} has {target.stat().st_size} bytes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", nargs="*", help="names of pages; by default all")
    parser.add_argument("--run", action="store_true", help="and compare the outputs with those of the page")
    parser.add_argument("--renew", action="store_true", help="run, and renew the outputs and pictures of the page")
    given = parser.parse_args()
    for page in (page for page in PAGES if not given.pages or page.stem in given.pages):
        made, folder = notebook(page), given.folder / page.stem
        folder.mkdir(parents=True, exist_ok=True)
        if given.renew:
            renew(page, run(made, folder), folder)
        elif given.run:
            compare(page, run(made, folder))
        (given.folder / f"{page.stem}.ipynb").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
