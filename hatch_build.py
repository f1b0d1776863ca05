"""The addresses of the package's metadata, and README for the package index, whose links are absolute.

Both follow from the two addresses in pyproject.toml. Where these are empty, the package has none, and links of README
stay relative.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        repository, site = (self.config[name].rstrip("/") for name in ("repository", "site"))
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if repository:
            version = metadata["version"]
            commit = "HEAD" if "dev" in version else f"v{version}"
            for beginning, kind in ((r"(!\[[^\]]*\]\()", "raw"), (r"((?<!!)\[[^\]]*\]\()", "blob")):
                text = re.sub(rf"{beginning}(?!\w+:|#)", rf"\1{repository}/{kind}/{commit}/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {
            name: address
            for name, address in {
                "Homepage": site or repository,
                "Documentation": site,
                "Repository": repository,
                "Issues": repository and f"{repository}/issues",
                "Changelog": repository and f"{repository}/blob/HEAD/CHANGELOG.md",
            }.items()
            if address
        }
