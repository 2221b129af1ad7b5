"""`llms.txt`: the pages of the docs with their titles, for programs that read them."""

import tomllib
from collections.abc import Iterator
from typing import Any

from tools.site.config import build_config
from tools.site.pages import DOCS, ROOT, TOP_PAGES, titles

SUMMARY = "Self-hosted, Twilio-style voice API for Asterisk: live calls survive engine crashes."
FRONT = "index.md"


def llms_text() -> str:
    """Return the file; it is beside the pages, as they are written."""
    nav = tomllib.loads(build_config(scripts=[]))["project"]["nav"]
    lines = ["# Switchroom", "", f"> {SUMMARY}"]
    for entry in nav:
        ((title, content),) = entry.items()
        pages = [each for each in _paths(content) if each != FRONT]
        if pages:
            lines += ["", f"## {title}", ""]
            lines += [f"- [{_title(each)}]({each})" for each in pages]
    return "\n".join(lines) + "\n"


def _paths(content: Any) -> Iterator[str]:
    """Yield the pages of an entry of the navigation, in order."""
    match content:
        case str():
            yield content
        case list():
            for each in content:
                yield from _paths(each)
        case dict():
            for each in content.values():
                yield from _paths(each)


def _title(page: str) -> str:
    tops = {staged: ROOT / name for name, staged in TOP_PAGES.items()}
    path = tops.get(page, DOCS / page)
    return titles([path])[path]
