"""The page of all error codes, by group; each code has an anchor of its name."""

from collections.abc import Iterator

from tools.docs.reference.markdown import code, page
from wire.error_codes.catalogue import FAMILY_END, GROUPS, ErrorCode

_SOURCE = "wire/error_codes/groups"
_INTRODUCTION = (
    "Problems of the REST API and of the engine's RPC, the webhook log, the timeline of a call, "
    "`switchroom doctor` and the command line have the same codes. A problem's `type` is the "
    "address of the page of its code at the server that sent it, such as "
    "`/docs/errors/call_ended`: it opens without the internet. `GET /docs/errors` "
    "lists all, and `switchroom error show CODE` prints one."
)


def error_pages() -> dict[str, str]:
    """Return the page of all codes, by its name."""
    return {"errors.md": page("Error codes", _SOURCE, _INTRODUCTION, *_parts())}


def _parts() -> Iterator[str]:
    for group in GROUPS:
        yield f"## {group.title}"
        for each in group.codes:
            yield f"### {code(each.code)}"
            yield from _paragraphs(each)


def _paragraphs(row: ErrorCode) -> Iterator[str]:
    statuses = f" ({', '.join(map(str, row.statuses))})" if row.statuses else ""
    yield f"**{row.title}**{statuses}: {row.meaning}{_family(row)}"
    if row.cause:
        yield f"*Cause:* {row.cause}"
    more = f" More: [{row.see.partition('#')[0]}](../{row.see})." if row.see else ""
    yield f"*What to do:* {row.action}{more}"
    yield f"*Appears in* {'; '.join(each.value for each in row.places)}."


def _family(row: ErrorCode) -> str:
    if not row.code.endswith(FAMILY_END):
        return ""
    return f" So for all codes that begin with `{row.code.removesuffix(FAMILY_END)}_`."
