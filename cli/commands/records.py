"""`switchroom cdr` and `switchroom audit`: records of ended calls, and who did what."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from base.timeline import wording
from cli.command import rest_command
from cli.help import with_example
from cli.output import Column, Shown, json_shown, rows_shown
from cli.rest_client import RestClient

MAX_PAGE = 100
Limit = Annotated[int, Parameter(help="Maximum number of rows.")]
Since = Annotated[str, Parameter(help="Only what was then or later, such as 2026-11-26T08:00Z.")]
Until = Annotated[str, Parameter(help="Only what was before, or until the end of a day.")]
# Filters that a request must have, also where they match any value.
_REQUIRED: dict[str, str] = dict.fromkeys(
    ("dialedNumber", "dispositionLevel1Id", "dispositionLevel2Id", "dispositionLevel3Id"), ""
)
_FIRST_DAY, _LAST_DAY = "2000-01-01", "2100-01-01"  # a range of records needs both ends
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

cdr = App(name="cdr", help=with_example("Show the records of ended calls.", "cdr list"))
audit = App(name="audit", help=with_example("Show who did what in the account.", "audit list"))


@Parameter(name="*")
@dataclass(frozen=True)
class RecordFilters:
    """Which records to list; a record must match all."""

    number: Annotated[str, Parameter(help="One of the dialled numbers.")] = ""
    from_: Annotated[str, Parameter(name="--from", help="Number of the caller.")] = ""
    to: Annotated[str, Parameter(help="Number that was called first.")] = ""
    call: Annotated[str, Parameter(help="Call id.")] = ""
    client: Annotated[str, Parameter(help="The customer's id of the call, `clientId`.")] = ""
    path: Annotated[str, Parameter(help="Path of the call, such as flow:menu.")] = ""
    obd_type: Annotated[str, Parameter(help="Type of an outbound call, such as direct.")] = ""
    status: Annotated[
        Literal["answered", "missed"] | None, Parameter(help="Whether a party answered.")
    ] = None
    purpose: Annotated[
        Literal["call", "voicemail"] | None, Parameter(help="With such a recording.")
    ] = None
    agent: Annotated[str, Parameter(help="Names of agents, separated by commas.")] = ""
    disposition1: Annotated[str, Parameter(help="Disposition, level 1.")] = ""
    disposition2: Annotated[str, Parameter(help="Disposition, level 2.")] = ""
    disposition3: Annotated[str, Parameter(help="Disposition, level 3.")] = ""
    since: Since = ""
    until: Until = ""

    def query(self) -> dict[str, str]:
        """Return the filters of the REST layer."""
        has_range = bool(self.since or self.until)
        return _REQUIRED | _given(
            {
                "dialedNumber": self.number,
                "callerId": self.from_,
                "toNumber": self.to,
                "reqId": self.call,
                "clientId": self.client,
                "callPath": self.path,
                "obdType": self.obd_type,
                "answerStatus": self.status or "",
                "recordingPurpose": self.purpose or "",
                "agentName": self.agent,
                "dispositionLevel1Id": self.disposition1,
                "dispositionLevel2Id": self.disposition2,
                "dispositionLevel3Id": self.disposition3,
                "startTime": self.since or (_FIRST_DAY if has_range else ""),
                "endTime": self.until or (_LAST_DAY if has_range else ""),
            }
        )


NO_FILTERS = RecordFilters()


@cdr.command(name="list")
@rest_command
async def list_records(
    rest: RestClient, *, filters: RecordFilters = NO_FILTERS, limit: Limit = 20
) -> Shown:
    """List the records of ended calls, newest first.

    Example: switchroom cdr list --status missed --since 2026-11-26 --limit 50
    """
    sent = filters.query() | {"limit": _page(limit)}
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
async def list_audit(  # noqa: PLR0913 - one for each filter
    rest: RestClient,
    *,
    actor: Annotated[str, Parameter(help="Only of this actor, such as key:3f9a12.")] = "",
    agent: Annotated[str, Parameter(help="Only of this agent.")] = "",
    action: Annotated[
        str, Parameter(help="Only this action, such as 'DELETE /srmain/dnc/{id}'.")
    ] = "",
    since: Since = "",
    until: Until = "",
    limit: Limit = 100,
) -> Shown:
    """List who did what in the account, newest first.

    Example: switchroom audit list --actor key:3f9a12
    """
    query = {"limit": _page(limit), "actor": actor, "agentId": agent}
    query |= {"action": action, "startTime": since, "endTime": until}
    rows = [each async for each in rest.rows("audit", query=_given(query), limit=limit)]
    return rows_shown(rows, _AUDIT_COLUMNS, "no actions")


def _page(limit: int) -> str:
    return str(min(limit or MAX_PAGE, MAX_PAGE))


def _given(query: dict[str, str]) -> dict[str, str]:
    """Return the parameters that have a value."""
    return {name: value for name, value in query.items() if value}
