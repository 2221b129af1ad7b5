"""The `Link` header of a page of a list, to the next page (RFC 8288)."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import fields
from starlette.datastructures import URL


def has_pages(shape: Any) -> bool:
    """Whether a response is a page: it has rows, and a cursor or an offset."""
    names = {each.name for each in fields(shape)} if hasattr(shape, "__struct_fields__") else set()
    return "data" in names and not names.isdisjoint({"next_cursor", "offset"})


def link_to_next(url: URL, page: Any) -> str | None:
    """Return the header for the page after this one; None for the last page.

    It refers to the server's own path: which name clients use for the server, it does not know.
    """
    place = _place_of_next(page)
    if place is None:
        return None
    given = parse_qsl(url.query, keep_blank_values=True)
    kept = [each for each in given if each[0] not in {"cursor", "offset"}]
    if place[0] == "cursor" and any(name == "offset" for name, _ in given):
        kept.append(("offset", "0"))  # it counts from the cursor; some lists require it
    return f'<{url.path}?{urlencode([*kept, place])}>; rel="next"'


def _place_of_next(page: Any) -> tuple[str, str] | None:
    """Return the parameter of the next page: of a list that has both, the cursor."""
    if hasattr(page, "next_cursor"):
        return ("cursor", page.next_cursor) if page.next_cursor else None
    end = page.offset + len(page.data)
    has_more = end < page.total or not getattr(page, "total_is_exact", True)
    can_be_read = end <= getattr(page, "max_offset", end)
    return ("offset", str(end)) if page.data and has_more and can_be_read else None
