"""Settings of Sphinx; `build.py` runs it."""

from __future__ import annotations

import re
import sys
import typing
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms import SphinxTransform

import kinetree
from kinetree.guide import public_names

project = "kinetree"
author = "The kinetree authors"
copyright = author
version = release = kinetree.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "index"
myst_heading_anchors = 6
myst_linkify_fuzzy_links = False
suppress_warnings = ["myst.header"]
default_role = "literal"
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "exclude-members": "INSTEAD"}  # a table for error messages
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
add_module_names = True
smartquotes_action = "D"  # dashes only: "rk4" is what one types
html_theme = "furo"
html_domain_indices = False
html_title = f"kinetree {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_exclude = ".linenos, .gp, .go"
linkcheck_anchors = False  # pages that scripts write have none in their text


def as_restructured_text(text: str) -> str:
    """A paragraph of a docstring: code is between backticks, bold between two asterisks; nothing else is markup."""
    parts = []
    for k, part in enumerate(text.split("`")):
        if k % 2 == 0:
            glued = "\\" if k and part[:1].isalnum() else ""
            parts.append(glued + _escaped(part))
        elif part:
            parts.append(f"``{' '.join(part.split())}``")
    return "".join(parts)


def _escaped(text: str) -> str:
    return re.sub(r"(?<!\*)\*(?!\*)|\||(?<=\w)_(?!\w)|\\", lambda match: f"\\{match[0]}", text)


def _docstring(_: Sphinx, *rest: Any) -> None:
    """Docstrings are also read in terminals, so they have no roles and no double backticks."""
    lines = rest[-1]
    text = re.sub(r"^( *)Source: ", r"\1**Source:** ", "\n".join(lines), flags=re.M)
    result, in_sections = "", False
    for part in re.split(r"(\n[ \n]*\n)", text):
        in_sections |= re.match(r"(Args|Attributes|Raises|Returns|\*\*Source):", part) is not None
        if part.startswith("    ") and not in_sections:  # a formula, or a table of aligned words
            result += f"::\n\n{part}"
        else:
            result += part if part.lstrip().startswith(">>> ") else as_restructured_text(part)
    config = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)
    lines[:] = GoogleDocstring(result, config).lines()


class LinkNames(SphinxTransform):
    """Types, errors, and code that is a public name are links to its page: `kt.aba(…)`, `robot.joints`; in docstrings
    `aba` as well."""

    default_priority = 600

    def apply(self, **_: object) -> None:
        for node in self.document.findall(addnodes.pending_xref):
            if node["refdomain"] == "py":  # a type or an error, named without its group, or with its module
                last = node["reftarget"].rpartition(".")[2]
                node["reftarget"] = described_at(last) if last in public_names() else node["reftarget"]
                for name in ("refspecific", "py:class", "py:module"):  # or `range` is the attribute of some class
                    node.attributes.pop(name, None)
        arguments = {node.astext() for node in self.document.findall(addnodes.desc_sig_name)}
        for node in [*self.document.findall(nodes.literal)]:
            if page := re.fullmatch(r"kinetree docs ([\w/]+?)(?:\.md)?(?:#[\w-]+)?", node.astext()):
                ends = (f"/{page[1]}", f"/{page[1]}/README")
                place = next((x for x in sorted(self.env.found_docs) if f"/{x}".endswith(ends)), page[1])
                options = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{place}", "refexplicit": True}
                node.replace_self(addnodes.pending_xref("", node.deepcopy(), refdoc=self.env.docname, **options))
                continue
            match = re.match(r"(?:(kt|kinetree|robot|motion)\.)?(\w[\w.]*)(?=$|\()", node.astext())
            if match is None or _is_linked(node):
                continue
            owner, name = match.groups()
            if owner in _OWNERS:
                target = f"kinetree.{_OWNERS[owner]}.{name}"
            elif owner or (self.env.docname.startswith("api/") and name not in arguments and name in public_names()):
                target = described_at(name)
            else:
                continue
            reference = addnodes.pending_xref(
                "", node.deepcopy(), refdomain="py", reftype="obj", reftarget=target, refwarn=False
            )
            node.replace_self(reference)


def _is_linked(node: nodes.Node) -> bool:
    """Whether a node is in a link or a heading."""
    while (node := node.parent) is not None:
        if isinstance(node, nodes.reference | nodes.title | addnodes.pending_xref):
            return True
    return False


_OWNERS = {"robot": "Model", "motion": "Trajectory"}


def described_at(name: str) -> str:
    """The name under which a public name is described: "dynamics.aba" and "aba" are both at "kinetree.aba"."""
    group, _, last = name.rpartition(".")
    most_used = public_names().get(last) == last
    if not group:
        return f"kinetree.{public_names().get(name, name)}"
    is_same = most_used and getattr(getattr(kinetree, group, None), last, None) is getattr(kinetree, last)
    return f"kinetree.{last}" if is_same else f"kinetree.{name}"


def _page(_: Sphinx, *rest: Any) -> None:
    """The table of contents shows the branch of the page alone: with every name, pages would be three times as long.

    Assistive technology expects that headings have a level, that signatures are not lists, and that no header is empty.
    """
    context = rest[2]
    if toctree := context.get("toctree"):
        context["toctree"] = lambda **options: toctree(**{**options, "collapse": True}).replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )
    if "body" in context:
        body = re.sub(r'<dt class="sig .*?</dt>', _signature, context["body"], flags=re.S)
        context["body"] = re.sub(r'<thead>\s*<tr[^>]*>(<th class="head"><p></p></th>\s*)+</tr>\s*</thead>', "", body)


def _signature(match: re.Match[str]) -> str:
    rows = re.sub(r"<dd>(.*?)</dd>", r'<span class="sig-argument">\1</span>', match[0], flags=re.S)
    return re.sub(r"</?dl>", "", rows)


def _types_as_written(subject: Any, *rest: Any, **options: Any) -> Any:
    """Sphinx falls back on the text of annotations: `ArrayLike` is easier to read than its value, a line of types."""
    if sys._getframe(1).f_globals["__name__"].startswith("sphinx."):
        raise NameError(subject)
    return _get_type_hints(subject, *rest, **options)


def _without_overloads(self: ModuleAnalyzer) -> None:
    """A function has one signature, with the arguments that its docstring describes."""
    _analyze(self)
    self.overloads.clear()


_get_type_hints, _analyze = typing.get_type_hints, ModuleAnalyzer.analyze


def setup(app: Sphinx) -> None:
    typing.get_type_hints = _types_as_written
    ModuleAnalyzer.analyze = _without_overloads
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("html-page-context", _page, priority=400)  # before furo
    app.add_transform(LinkNames)
