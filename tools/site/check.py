"""Checks a built site: links lead to pages and anchors, and nothing is loaded from elsewhere."""

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_NOT_LOADED = {"canonical", "next", "prev", "alternate"}


class _Page(HTMLParser):
    """Collects anchors, links and what a browser loads."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.has_diagrams = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        self.has_diagrams |= "mermaid" in found.get("class", "").split()
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        address = found.get(_LOADING.get(tag, ""))
        if address and found.get("rel") not in _NOT_LOADED:
            self.loaded.append(address)


def check_site(folder: Path) -> list[str]:
    """Return what is wrong, a line for each."""
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    return [fault for path, page in pages.items() for fault in _faults(folder, path, page, pages)]


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text())
    return page


def _faults(folder: Path, path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    name = path.relative_to(folder)
    for address in page.loaded:
        if urlsplit(address).netloc:
            yield f"{name}: loads {address}"
    if page.has_diagrams and not any("mermaid" in each for each in page.loaded):
        yield f"{name}: its diagrams are drawn by a program from elsewhere"
    for link in [*page.links, *page.loaded]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = _target(folder, path, unquote(parts.path))
        if not target.exists():
            yield f"{name}: {link} does not exist"
        elif (
            parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
        ):
            yield f"{name}: {link} has no such anchor"


def _target(folder: Path, path: Path, link: str) -> Path:
    if not link:
        return path
    start = folder / link.lstrip("/") if link.startswith("/") else path.parent / link
    found = Path(os.path.normpath(start))
    return found / "index.html" if found.is_dir() else found
