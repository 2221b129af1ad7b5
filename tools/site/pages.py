"""The files of the site: the pages of docs with the links that a site needs.

On GitHub a link may lead to any file of the repository. The site has `docs`, the README as its
first page, and below `source` the other files that pages link to.
"""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
SOURCE = "source"
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_HEADING = re.compile(r"^(#+ )(.+)$", re.MULTILINE)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")


def stage(target: Path, *, has_mermaid: bool) -> None:
    """Write the files of the site to an empty folder."""
    shutil.copytree(DOCS, target, dirs_exist_ok=True)
    pages = {path: path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    pages |= {ROOT / name: staged for name, staged in TOP_PAGES.items()}
    for path, staged in pages.items():
        text, linked = adapted(path.read_text(), path, pages, has_mermaid=has_mermaid)
        (target / staged).write_text(text)
        for source in linked:
            copy = target / SOURCE / source.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def adapted(
    text: str, path: Path, pages: Mapping[Path, str], *, has_mermaid: bool
) -> tuple[str, list[Path]]:
    """Return a page's text with the site's links and anchors, and the sources that it links to."""
    linked: list[Path] = []
    parts = _FENCE.split(text)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = part if has_mermaid else part.replace("```mermaid", "```text", 1)
        else:
            named = _HEADING.sub(lambda found: f"{found[0]} {{ #{anchor(found[2])} }}", part)
            parts[at] = _LINK.sub(
                lambda found: found[1] + _link(found[2], path, pages, linked) + found[3],
                named,
            )
    return "".join(parts), linked


def _link(link: str, path: Path, pages: Mapping[Path, str], linked: list[Path]) -> str:
    """Return where a link of a page leads in the site."""
    target, mark, rest = link.partition("#")
    if not target or "://" in link or link.startswith("mailto:"):
        return link
    found = Path(os.path.normpath(path.parent / target))
    if found.is_dir():
        found /= "README.md"
    if found in pages:
        place = pages[found]
    elif found.is_relative_to(DOCS):
        place = found.relative_to(DOCS).as_posix()
    else:
        linked.append(found)
        place = f"{SOURCE}/{found.relative_to(ROOT).as_posix()}"
    folder = PurePosixPath(pages[path]).parent
    return os.path.relpath(place, folder) + mark + rest


def titles(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the first heading of each page."""
    return {each: each.read_text().partition("\n")[0].lstrip("# ").strip() for each in paths}
