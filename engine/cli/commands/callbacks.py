"""`switchroom callback`: an account's callback target, its secret and its dead letters."""

from collections.abc import AsyncIterator, Collection, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from engine.cli.client import Client, open_client, path_of
from engine.cli.errors import UsageError, run
from engine.cli.options.connection import (
    DEFAULT_CONNECTION,
    AccountFlag,
    ClientSettings,
    ConnectionOptions,
    engine_address,
    resolve_account,
)
from engine.cli.timeline.screen import table_console
from wire.callbacks import CallbackView, DeadLetters, DeadLetterView, Resent

callback = App(
    name="callback", help="Manage status callbacks: target, signing secret and dead letters."
)


@callback.command(name="set")
def put(
    target: Annotated[
        str,
        Parameter(help="https:// URL, grpc(s)://host:port or API request id."),
    ],
    *,
    concurrency: Annotated[int, Parameter(help="Maximum of concurrent requests per engine.")] = 32,
    per_second: Annotated[
        float | None, Parameter(help="Maximum of requests per second and engine.")
    ] = None,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Set the callback target of an account; the first time, print the signing secret."""
    body: dict[str, Any] = {"target": target, "concurrency": concurrency}
    if per_second is not None:
        body["perS"] = per_second
    run(_put(body, account, connection))


@callback.command
def show(*, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Show the callback target of an account."""
    run(_show(account, connection))


@callback.command
def rotate(
    *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Create and print a new secret; the previous one also signs for a day."""
    run(_rotate(account, connection))


@callback.command(name="rm")
def remove(
    *, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION
) -> None:
    """Delete the callback target and the secrets."""
    run(_remove(account, connection))


@callback.command
def dead(*, account: AccountFlag = "", connection: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the events whose delivery was given up."""
    run(_dead(account, connection))


@callback.command
def resend(
    *letters: Annotated[str, Parameter(help="Ids from `switchroom callback dead`.")],
    all_: Annotated[bool, Parameter(name="--all", help="All dead letters of the account.")] = False,
    account: AccountFlag = "",
    connection: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Resend dead letters."""
    if all_ == bool(letters):
        run(_check_resend())
    run(_resend(letters, all_, account, connection))


async def _put(body: dict[str, Any], account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        _print(await client.request(CallbackView, "PUT", _path(account, settings), body))


async def _show(account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        _print(await client.request(CallbackView, "GET", _path(account, settings)))


async def _rotate(account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        _print(await client.request(CallbackView, "POST", f"{_path(account, settings)}/rotate"))


async def _remove(account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        name = f"account {resolve_account(account, settings)}"
        await client.remove("callbacks", name, _path(account, settings))


async def _dead(account: str, connection: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(connection, settings)) as client:
        letters = [each async for each in _letters(client, f"{_path(account, settings)}/dead")]
    table_console().print(_table(letters) if letters else "no dead letters")


async def _resend(
    letters: Collection[str], is_all: bool, account: str, connection: ConnectionOptions
) -> None:
    settings = ClientSettings()
    body: dict[str, Any] = {"all": True} if is_all else {"ids": list(letters)}
    async with open_client(*engine_address(connection, settings)) as client:
        resent = await client.request(Resent, "POST", f"{_path(account, settings)}/resend", body)
    print(f"{resent.resent} requeued")  # noqa: T201 - this is what a command does
    if not is_all and resent.resent < len(set(letters)):
        raise UsageError("the others are not dead letters of this account, or its queue is full")


async def _check_resend() -> None:
    raise UsageError("either ids of dead letters or --all")


async def _letters(client: Client, path: str) -> AsyncIterator[DeadLetterView]:
    query: dict[str, str] = {}
    while True:
        page = await client.request(DeadLetters, "GET", path, query=query)
        for letter in page.letters:
            yield letter
        if not page.more:
            return
        query = {"after": page.letters[-1].id}


def _path(account: str, settings: ClientSettings) -> str:
    return path_of("callbacks", resolve_account(account, settings))


def _print(view: CallbackView) -> None:
    table = Table(show_header=False, box=None)
    table.add_row("target", view.target or "none")
    if view.stopped:
        table.add_row("stopped", "it answered 410; set it again to restart delivery")
    rate = f", {view.per_s:g} per second" if view.per_s else ""
    table.add_row("limit", f"{view.concurrency} concurrent{rate}")
    if view.secret:
        table.add_row("secret, shown once", view.secret)
    if view.previous_until_ms:
        table.add_row("previous secret", f"signs until {_timestamp(view.previous_until_ms)}")
    Console(highlight=False, markup=False, soft_wrap=True).print(table)


def _table(letters: Iterable[DeadLetterView]) -> Table:
    table = Table("id", "event", "kind", "target", "reason", "tries", "given up", box=None)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True  # so that ids can be copied
    for each in letters:
        kind, when = str(each.event.get("event", "")), _timestamp(each.dead_ms)
        table.add_row(each.id, each.event_id, kind, each.target, each.reason, str(each.tries), when)
    return table


def _timestamp(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
