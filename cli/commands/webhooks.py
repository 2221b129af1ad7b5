"""`switchroom webhook`: the log of requests to an account's servers."""

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.table import Table

from base.exit_status import ExitStatus
from cli.command import rest_command
from cli.errors import RequestRejected, Unreachable, UsageError, is_transient
from cli.help import with_example
from cli.output import Column, OutputFlag, Row, Shown, rows_shown, shown, write_next
from cli.rest_client import RestClient

AttemptId = Annotated[str, Parameter(help="Id of an attempt; see `switchroom webhook list`.")]
Kind = Literal["action", "gather", "request", "callback"]
CallFilter = Annotated[str, Parameter(help="Only attempts of this call.")]
KindFilter = Annotated[Kind | None, Parameter(help="Only attempts of this kind.")]
OutcomeFilter = Annotated[
    Literal["succeeded", "failed"] | None, Parameter(help="Only attempts with this outcome.")
]
FailedFilter = Annotated[bool, Parameter(help="The same as --outcome failed.")]
POLL_INTERVAL_S = 0.5
UNREACHABLE_TIMEOUT_S = 60.0
MAX_PAGE = 200
_NONE = "no attempts; each appears a second or two after it was made"

webhook = App(
    name="webhook",
    help=with_example("Show and repeat the requests to an account's servers.", "webhook tail"),
)


@webhook.command(name="list")
@rest_command
async def list_(  # noqa: PLR0913 - one for each option
    rest: RestClient,
    *,
    call: CallFilter = "",
    kind: KindFilter = None,
    outcome: OutcomeFilter = None,
    failed: FailedFilter = False,
    limit: Annotated[int, Parameter(help="Attempts at most.")] = 50,
) -> Shown:
    """List attempts to reach the account's servers, the latest first.

    Example: switchroom webhook list --failed
    """
    query = _filters(call, kind, outcome, failed=failed) | {"limit": str(min(limit, MAX_PAGE))}
    rows = [each async for each in rest.rows("voice", "webhooks", query=query, limit=limit)]
    columns: tuple[Column, ...] = (
        ("id", "id"),
        ("time", "time"),
        ("kind", "kind"),
        ("request", "requestId"),
        ("try", "attempt"),
        ("outcome", _outcome),
        ("address", "url"),
    )
    return rows_shown(rows, columns, _NONE)


@webhook.command(alias="get")
@rest_command
async def show(rest: RestClient, attempt_id: AttemptId) -> Shown:
    """Show an attempt with its request and its response.

    Example: switchroom webhook show 1795262400000-0
    """
    return _shown(await rest.tagged("GET", "voice", "webhooks", attempt_id))


@webhook.command
@rest_command
async def retry(rest: RestClient, attempt_id: AttemptId) -> Shown:
    """Send the request of an attempt again, with its idempotency key; no call changes.

    Exit status: 0 if it succeeded, 1 if it failed again.

    Example: switchroom webhook retry 1795262400000-0
    """
    view = await rest.tagged("POST", "voice", "webhooks", attempt_id, "retry")
    has_failed = view.get("outcome") == "failed"
    return _shown(view)._replace(status=ExitStatus.NEGATIVE if has_failed else ExitStatus.DONE)


@webhook.command
@rest_command
async def tail(  # noqa: PLR0913 - one for each option
    rest: RestClient,
    *,
    call: CallFilter = "",
    kind: KindFilter = None,
    outcome: OutcomeFilter = None,
    failed: FailedFilter = False,
    output: OutputFlag = "table",
) -> None:
    """Print attempts as they are made, until Ctrl-C.

    With --output json each is a line; with yaml, a document.

    Example: switchroom webhook tail --failed
    """
    query = _filters(call, kind, outcome, failed=failed)
    newest = (await rest.tagged("GET", "voice", "webhooks", query={"limit": "1"}))["data"]
    after, reached_s = newest[0]["id"] if newest else "0-0", time.monotonic()
    while True:
        try:
            page = await rest.tagged("GET", "voice", "webhooks", query=query | {"after": after})
        except (Unreachable, RequestRejected) as error:
            if not is_transient(error) or time.monotonic() - reached_s > UNREACHABLE_TIMEOUT_S:
                raise
            page = {"data": []}
        else:
            reached_s = time.monotonic()
        for each in page["data"]:
            write_next(each, output, _line(each))
        after = page.get("nextCursor") or after
        await asyncio.sleep(POLL_INTERVAL_S)


def _filters(call: str, kind: Kind | None, outcome: str | None, *, failed: bool) -> dict[str, str]:
    if failed and outcome == "succeeded":
        raise UsageError("--failed and --outcome succeeded exclude each other")
    found = {"callId": call, "kind": kind or "", "outcome": "failed" if failed else outcome or ""}
    return {name: text for name, text in found.items() if text}


def _line(attempt: Row) -> str:
    parts = (attempt["time"], attempt["id"], attempt["kind"], attempt["requestId"])
    return " ".join((*parts, f"#{attempt['attempt']}", _outcome(attempt), attempt["url"]))


def _shown(view: Row) -> Shown:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("id", view["id"])
    table.add_row("time", view["time"])
    table.add_row("request", f"{view['requestId']}, attempt {view['attempt']} ({view['kind']})")
    if view.get("callId"):
        table.add_row("call", view["callId"])
    if view.get("retryOf"):
        table.add_row("retry of", view["retryOf"])
    table.add_row("outcome", _outcome(view))
    if view.get("detail"):
        table.add_row("detail", view["detail"])
    items: list[Any] = [table, f"\n> {view['method']} {view['url']}"]
    items += _message(">", view["requestHeaders"], view["requestBody"])
    items.append(f"\n< {view.get('status') or 'no response'}")
    items += _message("<", view["responseHeaders"], view["responseBody"])
    return shown(view, *items)


def _message(mark: str, headers: Mapping[str, str], body: Row) -> list[str]:
    lines = [f"{mark} {name}: {value}" for name, value in headers.items()]
    text = body["text"] + (" …" if body.get("truncated") else "")
    return [*lines, *([f"\n{text}"] if text else [])]


def _outcome(attempt: Row) -> str:
    status, took = attempt.get("status", 0), f"{attempt['tookMs']} ms"
    where = ", to a listener" if attempt.get("toListener") else ""
    result = attempt.get("reason") or str(status or "delivered")
    return f"{result}, {took}{where}"
