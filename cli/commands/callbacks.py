"""`switchroom callback`: an account's callback target, its secret and its dead letters."""

from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.table import Table

from base.exit_status import ExitStatus
from cli.command import IfVersion, rest_command
from cli.errors import UsageError
from cli.help import with_example
from cli.output import Column, Row, Shown, fields_shown, rows_shown, shown
from cli.rest_client import RestClient

_DEAD_LETTERS: tuple[Column, ...] = (
    ("id", "id"),
    ("event", "eventId"),
    ("kind", lambda row: str(row["event"].get("event", ""))),
    ("target", "target"),
    ("reason", "reason"),
    ("tries", "attempts"),
    ("given up", "givenUpTime"),
)

callback = App(
    name="callback",
    help=with_example(
        "Manage status callbacks: target, signing secret and dead letters.", "callback show"
    ),
)


@callback.command(name="set")
@rest_command
async def put(
    rest: RestClient,
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
    return _shown(await rest.tagged("PUT", "voice", "callbacks", body=body, version=if_version))


@callback.command(alias="get")
@rest_command
async def show(rest: RestClient) -> Shown:
    """Show the callback target of an account.

    Example: switchroom callback show --output json
    """
    return _shown(await rest.tagged("GET", "voice", "callbacks"))


@callback.command
@rest_command
async def rotate(rest: RestClient) -> Shown:
    """Create and print a new signing secret; the previous one also signs for a day.

    Example: switchroom callback rotate
    """
    return _shown(await rest.tagged("POST", "voice", "callbacks", "rotate"))


@callback.command
@rest_command
async def test(rest: RestClient) -> Shown:
    """Send a signed test event to the target now, once.

    Exit status: 0 if the target accepted it, else 1.

    Example: switchroom callback test
    """
    found = await rest.tagged("POST", "voice", "callbacks", "test")
    status = ExitStatus.DONE if found.get("delivered") else ExitStatus.NEGATIVE
    return fields_shown(found)._replace(status=status)


@callback.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient) -> Shown:
    """Delete the callback target and the secrets.

    Example: switchroom callback rm
    """
    return shown(await rest.remove("callbacks", "of the account", "voice", "callbacks"))


@callback.command
@rest_command
async def dead(
    rest: RestClient,
    *,
    limit: Annotated[int, Parameter(help="Maximum number of events; 0: all.")] = 0,
) -> Shown:
    """List the events whose delivery was given up.

    Example: switchroom callback dead --limit 20
    """
    path = ("voice", "callbacks", "dead-letters")
    rows = [each async for each in rest.rows(*path, limit=limit)]
    return rows_shown(rows, _DEAD_LETTERS, "no dead letters")


@callback.command
@rest_command
async def resend(
    rest: RestClient,
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
    found = await rest.tagged("POST", "voice", "callbacks", "resend", body=body)
    resent = shown(found, f"{found['resent']} requeued")
    if all_ or found["resent"] == len(set(dead_letters)):
        return resent
    reason = "the others are not dead letters of this account, or its queue is full"
    return resent._replace(status=ExitStatus.NEGATIVE, reason=reason)


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
    if until := view.get("previousSecretUntil"):
        table.add_row("previous secret", f"signs until {until}")
    if view.get("version"):
        table.add_row("version", str(view["version"]))
    return shown(view, table)
