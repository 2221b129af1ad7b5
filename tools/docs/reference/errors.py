"""A page for each error code, and the table of all by group."""

from collections.abc import Iterator

from tools.docs.reference.markdown import code, page, table
from wire.error_codes.catalogue import FAMILY_END, GROUPS
from wire.error_codes.error_code import CodeGroup, ErrorCode

_SOURCE = "wire/error_codes/groups"
_INTRODUCTION = (
    "Problems of the REST API and of the engine's RPC, the webhook log, the timeline of a call, "
    "`switchroom doctor` and the command line have the same codes. A problem's `type` is the "
    "address of the page of its code at the server that sent it, such as "
    "`/docs/errors/call_ended`: it opens without the internet "
    "([decision 0072](../../decisions/0072-one-table-of-error-codes.md)). `GET /docs/errors` "
    "lists all."
)


def error_pages() -> dict[str, str]:
    """Return the pages of all codes and their index, by name."""
    pages = {
        f"errors/{each.code}.md": _page(each, group) for group in GROUPS for each in group.codes
    }
    return {"errors/README.md": page("Error codes", _SOURCE, _INTRODUCTION, *_index()), **pages}


def _index() -> Iterator[str]:
    for group in GROUPS:
        yield f"## {group.title}"
        rows = [(f"[{code(each.code)}]({each.code}.md)", _cell(each)) for each in group.codes]
        yield table(("code", "meaning"), rows)


def _cell(row: ErrorCode) -> str:
    statuses = ", ".join(map(str, row.statuses))
    return f"{row.meaning} ({statuses})" if statuses else row.meaning


def _page(row: ErrorCode, group: CodeGroup) -> str:
    facts = [("appears in", "; ".join(each.value for each in row.places))]
    if row.statuses:
        facts.insert(0, ("HTTP status", ", ".join(map(str, row.statuses))))
    return page(
        f"{code(row.code)}: {row.title}",
        f"{_SOURCE}",
        row.meaning,
        _family(row),
        table(("", ""), facts),
        f"## Cause\n\n{row.cause}",
        f"## What to do\n\n{row.action}",
        f"More: [{row.see.partition('#')[0]}](../../{row.see})" if row.see else "",
        f"[All error codes](README.md#{group.title.lower().replace(',', '').replace(' ', '-')})",
    )


def _family(row: ErrorCode) -> str:
    if not row.code.endswith(FAMILY_END):
        return ""
    begin = row.code.removesuffix(FAMILY_END)
    return f"The page is that of all codes that begin with `{begin}_`."
