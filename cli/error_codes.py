"""`switchroom error`: the table of error codes, without a server and without the docs."""

from typing import Annotated

from cyclopts import App, Parameter

from cli.errors import NotFound, exit_on_errors
from cli.help import with_example
from cli.output import OutputFlag, fields_shown, rows_shown, write_shown
from wire.docs_address import error_page_link

_FIELDS = [
    ("code", "code"), ("title", "title"), ("meaning", "meaning"), ("cause", "cause"),
    ("what to do", "action"), ("HTTP status", "statuses"), ("appears in", "places"),
    ("page", "page"),
]  # fmt: skip

error = App(
    name="error",
    help=with_example("Explain the error codes of all programs.", "error show call_ended"),
)


@error.command(name="list")
@exit_on_errors
def list_(
    *,
    containing: Annotated[str, Parameter(help="Only codes and titles that contain this.")] = "",
    output: OutputFlag = "table",
) -> None:
    """List all error codes, or some.

    Example: switchroom error list --containing store
    """
    from wire.error_codes.catalogue import GROUPS  # noqa: PLC0415 - other commands need no table

    rows = [
        {"code": each.code, "title": each.title, "group": group.title}
        for group in GROUPS
        for each in group.codes
        if containing.lower() in f"{each.code} {each.title}".lower()
    ]
    columns = [("code", "code"), ("title", "title"), ("about", "group")]
    write_shown(rows_shown(rows, columns, "no such codes"), output)


@error.command
@exit_on_errors
def show(
    code: Annotated[
        str, Parameter(help="Code, such as `call_ended` or `status_503`, or the reason of a call.")
    ],
    *,
    output: OutputFlag = "table",
) -> None:
    """Say what a code means, what causes it, and what to do.

    Example: switchroom error show call_ended
    """
    from wire.error_codes.catalogue import find_code  # noqa: PLC0415 - other commands need no table

    # A reason such as `action_failed:connect` has the cause after its colon, one of a timeline
    # such as `connect: refused` a detail.
    first, _, rest = code.partition(":")
    found = find_code(code) or find_code(rest) or find_code(first)
    if found is None:
        raise NotFound("error code", code)
    places = [each.value for each in found.places]
    row = {
        "code": found.code,
        "title": found.title,
        "meaning": found.meaning,
        "cause": found.cause,
        "action": found.action,
        "statuses": list(found.statuses),
        "places": places,
        "page": error_page_link(found.code),
    }
    texts = row | {"statuses": " ".join(map(str, found.statuses)), "places": "; ".join(places)}
    write_shown(fields_shown(texts, _FIELDS)._replace(value=row), output)
