"""The configuration of the build: zensical.toml, where a folder stands for its pages."""

import json
import re
from pathlib import Path

from tools.site.pages import DOCS, ROOT, titles

CONFIG = ROOT / "zensical.toml"
_FOLDER = re.compile(r'"([\w/-]+/)"')
_SCRIPTS = "extra_javascript = []\n"


def build_config(*, scripts: list[str]) -> str:
    """Return the text of the configuration for a build in its own folder."""
    text = CONFIG.read_text().replace(_SCRIPTS, f"extra_javascript = {json.dumps(scripts)}\n")
    return _FOLDER.sub(lambda found: _pages(DOCS / found[1]), text)


def _pages(folder: Path, *first: Path) -> str:
    """Return the pages of a folder as entries of the navigation: its own, others, folders in it.

    A page and a folder of one name are one entry, with the page first.
    """
    inner = [each for each in sorted(folder.iterdir()) if each.is_dir() and any(each.rglob("*.md"))]
    indexes = {each: each.with_suffix(".md") for each in inner if each.with_suffix(".md").exists()}
    found = sorted(folder.glob("*.md"), key=lambda each: (each.name != "README.md", each.name))
    shown = [*first, *(each for each in found if each not in indexes.values())]
    entries = [
        f"{{ {json.dumps(title)} = {json.dumps(path.relative_to(DOCS).as_posix())} }}"
        for path, title in titles(shown).items()
    ]
    entries += [
        f"{{ {json.dumps(each.name.capitalize())} ="
        f" {_pages(each, *([indexes[each]] if each in indexes else []))} }}"
        for each in inner
    ]
    return f"[{', '.join(entries)}]"
