"""`switchroom cdr` and `switchroom audit`: records of ended calls, and who did what."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from engine.cli.command import rest_command
from engine.cli.rest_client import RestClient
from engine.cli.timeline import wording
from wire.programs.output import Column, Shown, json_shown, rows_shown

MAX_PAGE = 100
Limit = Annotated[int, Parameter(help="Maximum number of rows.")]
Since = Annotated[str, Parameter(help="Only what was then or later, such as 2026-11-26T08:00Z.")]
# Filters that a request must have, also where they match any value.
_REQUIRED: dict[str, str] = dict.fromkeys(
    ("dialedNumber", "dispositionLevel1Id", "dispositionLevel2Id", "dispositionLevel3Id"), ""
)
_CDR_COLUMNS: tuple[Column, ...] = (
    ("call", "reqId"),
    ("start", "startTime"),
    ("direction", "direction"),
    ("from", "from"),
    ("to", "toNumber"),
    ("status", "status"),
    ("length", lambda row: wording.seconds(row.get("durationMs", 0))),
)
_AUDIT_COLUMNS: tuple[Column, ...] = (
    ("time", "time"),
    ("actor", "actor"),
    ("agent", "agentId"),
    ("action", "action"),
    ("object", "object"),
    ("outcome", "outcome"),
)

cdr = App(name="cdr", help="Show the records of ended calls.")
audit = App(name="audit", help="Show who did what in the account.")


@cdr.command(name="list")
@rest_command
async def list_records(
    rest: RestClient,
    *,
    direction: Annotated[
        Literal["inbound", "outbound"] | None, Parameter(help="Only calls in this direction.")
    ] = None,
    since: Since = "",
    limit: Limit = 20,
) -> Shown:
    """List the records of ended calls, newest first.

    Example: switchroom cdr list --direction inbound --limit 50
    """
    query = {"limit": str(min(limit, MAX_PAGE)), "direction": direction or "", "startTime": since}
    sent = _REQUIRED | _given(query)
    rows = [each async for each in rest.rows("cdr", query=sent, limit=limit)]
    return rows_shown(rows, _CDR_COLUMNS, "no call records")


@cdr.command(name="show", alias="get")
@rest_command
async def show_record(
    rest: RestClient, call_id: Annotated[str, Parameter(help="Call id.")]
) -> Shown:
    """Show the record of a call with its timeline.

    Example: switchroom cdr show 3-pbx1-7f3a --output yaml
    """
    return json_shown(await rest.request(dict[str, Any], "GET", "cdr", call_id))


@audit.command(name="list")
@rest_command
async def list_audit(
    rest: RestClient,
    *,
    actor: Annotated[str, Parameter(help="Only of this actor, such as key:3f9a12.")] = "",
    since: Since = "",
    limit: Limit = 100,
) -> Shown:
    """List who did what in the account, newest first.

    Example: switchroom audit list --actor key:3f9a12
    """
    query = {"limit": str(min(limit, MAX_PAGE)), "actor": actor, "startTime": since}
    rows = [each async for each in rest.rows("audit", query=_given(query), limit=limit)]
    return rows_shown(rows, _AUDIT_COLUMNS, "no actions")


def _given(query: dict[str, str]) -> dict[str, str]:
    """Return the parameters that have a value."""
    return {name: value for name, value in query.items() if value}
