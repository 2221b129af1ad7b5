"""Every command of `switchroom account` that may change something is in the audit trail."""

import time
from collections.abc import Iterator
from pathlib import Path

import cyclopts
import pytest
import sqlalchemy as sa

from api.accounts.store import Account, AccountStore
from api.audit.trail import AuditEntry, entries
from cli.commands.account import account as app
from cli.database.commands import COMMANDS
from tests.harness.api.cli import switchroom
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.ports import free_port

SHOWS = ("list", "show")
KEY = f"swk_0123456789ab_{'k' * 43}"
DNC_TOKEN = f"swd_0123456789ab_{'t' * 43}"
ARGUMENTS = {
    "create": ("acme", "--name", "list"),
    "set": ("acme", "--max-calls", "5"),
    "trunks": ("acme", "any"),
    "stop": ("acme",),
    "start": ("acme",),
    "region": ("acme", "NO"),
    "transcripts": ("acme", "whisper"),
    "email": ("acme", "show@example.com"),
    "erase": ("acme", "+4722222222"),
    "key create": ("acme", "--agent", "list"),
    "key rotate": ("acme", KEY),
    "key revoke": ("acme", KEY),
    "number add": ("acme", "+4721930000"),
    "number rm": ("acme", "+4721930000"),
    "endpoint add": ("acme", "PJSIP/1001"),
    "endpoint rm": ("acme", "PJSIP/1001"),
    "dnc import": ("acme", __file__, "--provider", "list"),
    "dnc-token create": ("acme",),
    "dnc-token revoke": ("acme", DNC_TOKEN),
}


def leaves(group: cyclopts.App, path: str = "") -> Iterator[str]:
    """Yield the words of each command of a group and of its subgroups."""
    for name in group:
        command = group[name]
        if not name.startswith("-"):
            words = f"{path} {name}".strip()
            if command.default_command is not None:
                yield words
            yield from leaves(command, words)


CHANGES = [
    each for each in leaves(app) if each.split()[0] in COMMANDS and each.split()[-1] not in SHOWS
]


def test_each_command_that_changes_something_is_tested() -> None:
    """A new command has to be added to the arguments of this test."""
    other_names = {each for each in CHANGES if each.endswith(" remove")}  # of `rm`
    assert {*CHANGES} - other_names == ARGUMENTS.keys()


async def trail(folder: Path) -> list[AuditEntry]:
    async with migrated_database(sqlite_url(folder)) as database:
        found = await database.mappings(sa.select(entries).order_by(entries.c.id))
    return [AuditEntry(**{k: v for k, v in row.items() if k != "id"}) for row in found]


async def run(folder: Path, *words: str) -> None:
    """Run a command; no engine answers."""
    settings = {
        "SWITCHROOM_RPC_TOKEN": "t" * 32,
        "SWITCHROOM_TOKEN_SECRET": "s" * 32,
        "SWITCHROOM_ENGINE_URLS": f'["http://127.0.0.1:{free_port()}"]',
    }
    await switchroom(folder, "account", *words, **settings)


@pytest.mark.parametrize("command", ARGUMENTS)
async def test_a_command_is_audited(tmp_path: Path, command: str) -> None:
    """With the account, whether it succeeds or fails; an option's value hides nothing."""
    if command != "create":
        async with migrated_database(sqlite_url(tmp_path)) as database:
            await AccountStore(database, lambda: int(time.time() * 1_000)).add(
                Account("acme", "acme")
            )
    await run(tmp_path, *command.split(), *ARGUMENTS[command])
    (entry,) = await trail(tmp_path)
    assert (entry.account_id, entry.action) == ("acme", f"account {command}")
    assert entry.actor.startswith("user:")
    assert entry.outcome in {"done", "failed"}


@pytest.mark.parametrize("words", [("key", "revoke", "acme", KEY), ("key", "rotate", "acme", KEY)])
async def test_a_secret_on_the_command_line_is_not_kept(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A whole key may be given instead of its id; the trail has the id."""
    await run(tmp_path, *words)
    (entry,) = await trail(tmp_path)
    assert entry.object == f"account {words[0]} {words[1]} acme swk_0123456789ab_…"


async def test_a_mistyped_account_is_audited(tmp_path: Path) -> None:
    """Also one that is longer than an account's id can be."""
    await run(tmp_path, "stop", "a" * 100)
    (entry,) = await trail(tmp_path)
    assert (entry.account_id, entry.outcome) == ("a" * 64, "failed")
