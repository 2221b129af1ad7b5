"""`switchroom callback`: an account's callback target, its secret and its dead letters."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.table import Table

from base.exit_status import ExitStatus
from cli.command import resource_command
from cli.errors import UsageError
from cli.named_commands import with_example
from cli.options.version import IfVersion
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.resources import Resources
from cli.resources import remove as remove_resource

_DEAD_LETTERS: tuple[Column, ...] = (
    ("id", "id"),
    ("event", "eventId"),
    ("kind", lambda row: str(row["event"].get("event", ""))),
    ("target", "target"),
    ("reason", "reason"),
    ("tries", lambda row: str(row.get("attempts", row.get("tries", "")))),
    ("given up", lambda row: row.get("givenUpTime") or _timestamp(row["deadMs"])),
)

callback = App(
    name="callback",
    help=with_example(
        "Manage status callbacks: target, signing secret and dead letters.", "callback show"
    ),
)


@callback.command(name="set")
@resource_command
async def put(
    resources: Resources,
    target: Annotated[str, Parameter(help="https:// URL, grpc(s)://host:port or API request id.")],
    *,
    concurrency: Annotated[int, Parameter(help="Maximum of concurrent requests per engine.")] = 32,
    per_second: Annotated[
        float | None, Parameter(help="Maximum of requests per second and engine.")
    ] = None,
    if_version: IfVersion = None,
) -> Shown:
    """Set the callback target of an account; the first time, print the signing secret.

    Example: switchroom callback set https://example.com/status
    """
    body: dict[str, Any] = {"target": target, "concurrency": concurrency}
    if per_second is not None:
        body["perS"] = per_second
    return _shown(await resources.request("PUT", "callback", body=body, version=if_version))


@callback.command(alias="get")
@resource_command
async def show(resources: Resources) -> Shown:
    """Show the callback target of an account.

    Example: switchroom callback show --output json
    """
    return _shown(await resources.request("GET", "callback"))


@callback.command
@resource_command
async def rotate(resources: Resources) -> Shown:
    """Create and print a new signing secret; the previous one also signs for a day.

    Example: switchroom callback rotate
    """
    return _shown(await resources.request("POST", "callback", "rotate"))


@callback.command
@resource_command
async def test(resources: Resources) -> Shown:
    """Send a signed test event to the target now, once.

    Exit status: 0 if the target accepted it, else 1.

    Example: switchroom callback test
    """
    found = await resources.request("POST", "callback", "test")
    status = ExitStatus.DONE if found.get("delivered") else ExitStatus.NEGATIVE
    return fields_shown(found)._replace(status=status)


@callback.command(name="rm", alias="remove")
@resource_command
async def remove(resources: Resources) -> Shown:
    """Delete the callback target and the secrets.

    Example: switchroom callback rm
    """
    whose = f"account {resources.account}" if resources.account else "the key's account"
    return await remove_resource(resources, "callback", name=whose)


@callback.command
@resource_command
async def dead(
    resources: Resources,
    *,
    limit: Annotated[int, Parameter(help="Maximum number of events; 0: all.")] = 0,
) -> Shown:
    """List the events whose delivery was given up.

    Example: switchroom callback dead --limit 20
    """
    rows: list[dict[str, Any]] = []
    async for each in _dead_letters(resources):
        rows.append(each)
        if len(rows) == limit:
            break
    return rows_shown(rows, _DEAD_LETTERS, "no dead letters")


@callback.command
@resource_command
async def resend(
    resources: Resources,
    *dead_letters: Annotated[
        str, Parameter(help="Ids of dead letters; see `switchroom callback dead`.")
    ],
    all_: Annotated[bool, Parameter(name="--all", help="All dead letters of the account.")] = False,
) -> Shown:
    """Resend dead letters.

    Example: switchroom callback resend --all
    """
    if all_ == bool(dead_letters):
        raise UsageError("either ids of dead letters or --all")
    body: dict[str, Any] = {"all": True} if all_ else {"ids": list(dead_letters)}
    found = await resources.request("POST", "callback", "resend", body=body)
    resent = shown(found, f"{found['resent']} requeued")
    if all_ or found["resent"] == len(set(dead_letters)):
        return resent
    reason = "the others are not dead letters of this account, or its queue is full"
    return resent._replace(status=ExitStatus.NEGATIVE, reason=reason)


async def _dead_letters(resources: Resources) -> AsyncIterator[dict[str, Any]]:
    query: dict[str, str] = {}
    while True:
        if resources.is_rest:
            page = await resources.request("GET", "callback", "dead-letters", query=query)
            rows, following = page["data"], page.get("nextCursor")
            query = {"cursor": following or ""}
        else:
            page = await resources.request("GET", "callback", "dead", query=query)
            rows = page["deadLetters"]
            following = rows[-1]["id"] if page.get("more") else ""
            query = {"after": following}
        for dead_letter in rows:
            yield dead_letter
        if not following:
            return


def _shown(view: Row) -> Shown:
    table = Table(show_header=False, box=None)
    table.add_row("target", view.get("target") or "none")
    if view.get("stopped"):
        table.add_row("stopped", "it answered 410; set it again to restart delivery")
    rate = f", {view['perS']:g} per second" if view.get("perS") else ""
    table.add_row("limit", f"{view['concurrency']} concurrent{rate}")
    if view.get("secret"):
        table.add_row("secret, shown once", view["secret"])
    table.add_row("rotations of the secret", str(view.get("secretNumber", 0)))
    until_ms = view.get("previousUntilMs")
    if until := view.get("previousSecretUntil") or (_timestamp(until_ms) if until_ms else ""):
        table.add_row("previous secret", f"signs until {until}")
    if view.get("version"):
        table.add_row("version", str(view["version"]))
    return shown(view, table)


def _timestamp(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
