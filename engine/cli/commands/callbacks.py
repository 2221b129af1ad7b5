"""`switchroom callback`: an account's callback target, its secret and its dead letters."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client
from engine.cli.command import account_command
from engine.cli.errors import UsageError
from engine.cli.timeline.screen import id_table, table_console
from wire.callbacks.account import CallbackView, DeadLetters, DeadLetterView, Resent

callback = App(
    name="callback", help="Manage status callbacks: target, signing secret and dead letters."
)


@callback.command(name="set")
@account_command
async def put(
    client: Client,
    account: str,
    target: Annotated[str, Parameter(help="https:// URL, grpc(s)://host:port or API request id.")],
    *,
    concurrency: Annotated[int, Parameter(help="Maximum of concurrent requests per engine.")] = 32,
    per_second: Annotated[
        float | None, Parameter(help="Maximum of requests per second and engine.")
    ] = None,
) -> None:
    """Set the callback target of an account; the first time, print the signing secret."""
    body: dict[str, Any] = {"target": target, "concurrency": concurrency}
    if per_second is not None:
        body["perS"] = per_second
    _print(await client.request(CallbackView, "PUT", "callbacks", account, body=body))


@callback.command
@account_command
async def show(client: Client, account: str) -> None:
    """Show the callback target of an account."""
    _print(await client.request(CallbackView, "GET", "callbacks", account))


@callback.command
@account_command
async def rotate(client: Client, account: str) -> None:
    """Create and print a new signing secret; the previous one also signs for a day."""
    _print(await client.request(CallbackView, "POST", "callbacks", account, "rotate"))


@callback.command(name="rm")
@account_command
async def remove(client: Client, account: str) -> None:
    """Delete the callback target and the secrets."""
    await client.remove("callbacks", f"account {account}", "callbacks", account)


@callback.command
@account_command
async def dead(client: Client, account: str) -> None:
    """List the events whose delivery was given up."""
    dead_letters = [each async for each in _dead_letters(client, account)]
    table_console().print(_table(dead_letters) if dead_letters else "no dead letters")


@callback.command
@account_command
async def resend(
    client: Client,
    account: str,
    *dead_letters: Annotated[
        str, Parameter(help="Ids of dead letters; see `switchroom callback dead`.")
    ],
    all_: Annotated[bool, Parameter(name="--all", help="All dead letters of the account.")] = False,
) -> None:
    """Resend dead letters."""
    if all_ == bool(dead_letters):
        raise UsageError("either ids of dead letters or --all")
    body: dict[str, Any] = {"all": True} if all_ else {"ids": list(dead_letters)}
    resent = await client.request(Resent, "POST", "callbacks", account, "resend", body=body)
    print(f"{resent.resent} requeued")  # noqa: T201 - this is what a command does
    if not all_ and resent.resent < len(set(dead_letters)):
        raise UsageError("the others are not dead letters of this account, or its queue is full")


async def _dead_letters(client: Client, account: str) -> AsyncIterator[DeadLetterView]:
    query: dict[str, str] = {}
    while True:
        page = await client.request(DeadLetters, "GET", "callbacks", account, "dead", query=query)
        for dead_letter in page.dead_letters:
            yield dead_letter
        if not page.more:
            return
        query = {"after": page.dead_letters[-1].id}


def _print(view: CallbackView) -> None:
    table = Table(show_header=False, box=None)
    table.add_row("target", view.target or "none")
    if view.stopped:
        table.add_row("stopped", "it answered 410; set it again to restart delivery")
    rate = f", {view.per_s:g} per second" if view.per_s else ""
    table.add_row("limit", f"{view.concurrency} concurrent{rate}")
    if view.secret:
        table.add_row("secret, shown once", view.secret)
    table.add_row("rotations of the secret", str(view.secret_number))
    if view.previous_until_ms:
        table.add_row("previous secret", f"signs until {_timestamp(view.previous_until_ms)}")
    Console(highlight=False, markup=False, soft_wrap=True).print(table)


def _table(dead_letters: Iterable[DeadLetterView]) -> Table:
    table = id_table("id", "event", "kind", "target", "reason", "tries", "given up")
    for each in dead_letters:
        kind, when = str(each.event.get("event", "")), _timestamp(each.dead_ms)
        table.add_row(each.id, each.event_id, kind, each.target, each.reason, str(each.tries), when)
    return table


def _timestamp(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
