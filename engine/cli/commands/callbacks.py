"""`switchroom callback`: where an account's calls are told, its secret, and what was given up."""

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

callback = App(name="callback", help="Say where an account's calls are told, and what was not.")


@callback.command(name="set")
def put(
    target: Annotated[
        str,
        Parameter(
            help="An https:// engine_address, grpc(s)://host:port or the id of an API request."
        ),
    ],
    *,
    concurrency: Annotated[int, Parameter(help="Requests at once, of each engine.")] = 32,
    per_second: Annotated[float | None, Parameter(help="Requests a second, likewise.")] = None,
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Say where an account's calls are told; the first time its secret is made, and shown."""
    body: dict[str, Any] = {"target": target, "concurrency": concurrency}
    if per_second is not None:
        body["perS"] = per_second
    run(_put(body, account, where))


@callback.command
def show(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Show where an account's calls are told."""
    run(_show(account, where))


@callback.command
def rotate(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Make another secret, shown once; the one before signs along for a day."""
    run(_rotate(account, where))


@callback.command(name="rm")
def remove(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """Tell nobody any more; the secrets are forgotten."""
    run(_remove(account, where))


@callback.command
def dead(*, account: AccountFlag = "", where: ConnectionOptions = DEFAULT_CONNECTION) -> None:
    """List the events that were given up."""
    run(_dead(account, where))


@callback.command
def resend(
    *letters: Annotated[str, Parameter(help="As `dead` lists them.")],
    all_: Annotated[bool, Parameter(name="--all", help="All that there are.")] = False,
    account: AccountFlag = "",
    where: ConnectionOptions = DEFAULT_CONNECTION,
) -> None:
    """Send events again that were given up."""
    if all_ == bool(letters):
        run(_unclear())
    run(_resend(letters, all_, account, where))


async def _put(body: dict[str, Any], account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        _print(await client.request(CallbackView, "PUT", _of(account, settings), body))


async def _show(account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        _print(await client.request(CallbackView, "GET", _of(account, settings)))


async def _rotate(account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        _print(await client.request(CallbackView, "POST", f"{_of(account, settings)}/rotate"))


async def _remove(account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        name = f"account {resolve_account(account, settings)}"
        await client.remove("callbacks", name, _of(account, settings))


async def _dead(account: str, where: ConnectionOptions) -> None:
    settings = ClientSettings()
    async with open_client(*engine_address(where, settings)) as client:
        letters = [each async for each in _letters(client, f"{_of(account, settings)}/dead")]
    table_console().print(_table(letters) if letters else "no dead letters")


async def _resend(
    letters: Collection[str], is_all: bool, account: str, where: ConnectionOptions
) -> None:
    settings = ClientSettings()
    body: dict[str, Any] = {"all": True} if is_all else {"ids": list(letters)}
    async with open_client(*engine_address(where, settings)) as client:
        resent = await client.request(Resent, "POST", f"{_of(account, settings)}/resend", body)
    print(f"{resent.resent} on the way again")  # noqa: T201 - this is what a command does
    if not is_all and resent.resent < len(set(letters)):
        raise UsageError(
            "the others are no dead letters of this account, or there is no room for them"
        )


async def _unclear() -> None:
    raise UsageError("either the ids of dead letters, or --all")


async def _letters(client: Client, path: str) -> AsyncIterator[DeadLetterView]:
    """Read all dead letters, page by page."""
    query: dict[str, str] = {}
    while True:
        page = await client.request(DeadLetters, "GET", path, query=query)
        for letter in page.letters:
            yield letter
        if not page.more:
            return
        query = {"after": page.letters[-1].id}


def _of(account: str, settings: ClientSettings) -> str:
    return path_of("callbacks", resolve_account(account, settings))


def _print(view: CallbackView) -> None:
    table = Table(show_header=False, box=None)
    table.add_row("target", view.target or "none")
    if view.stopped:
        table.add_row("stopped", "it answered 410; set it again to go on")
    pace = f", {view.per_s:g} a second" if view.per_s else ""
    table.add_row("pace", f"{view.concurrency} at once{pace}")
    if view.secret:
        table.add_row("secret, shown once", view.secret)
    if view.previous_until_ms:
        table.add_row("the one before", f"signs until {_moment(view.previous_until_ms)}")
    Console(highlight=False, markup=False, soft_wrap=True).print(table)


def _table(letters: Iterable[DeadLetterView]) -> Table:
    table = Table("letter", "event", "kind", "target", "reason", "tries", "given up", box=None)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True  # to be copied
    for each in letters:
        kind, when = str(each.event.get("event", "")), _moment(each.dead_ms)
        table.add_row(each.id, each.event_id, kind, each.target, each.reason, str(each.tries), when)
    return table


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
