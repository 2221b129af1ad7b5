"""A customer's commands against the REST layer and an engine's RPC, without a PBX."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from api.accounts.store import Account
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import serve_rest
from tests.harness.cli.forked import Ended, run_forked
from tests.harness.rpc.scene import RpcScene

ACCOUNT, NUMBER = "cli", "+15550042"
HANGUP = '{"type": "hangup"}'
SAY = '{"type": "say", "data": {"text": "Hello."}}'


class Shell(Struct, frozen=True):
    """A shell in an empty folder, where nothing else of this user is configured."""

    folder: Path

    async def run(self, *words: str) -> Ended:
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        return await run_forked(words, self.folder, home)

    async def shown(self, command: str) -> Any:
        """Return what a command shows to programs."""
        ended = await self.run(*command.split(), "--output", "json")
        assert ended.status == 0, ended.err
        return json.loads(ended.out)


@pytest.fixture
async def shell(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Shell]:
    """Run the REST layer; the shell has an integrator's key of an account, and `owner` all."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as served:
        accounts = served.services.accounts
        await accounts.add(Account(ACCOUNT, "CLI", destinations=None))
        await accounts.add_number(ACCOUNT, NUMBER)
        await served.add(ACCOUNT)
        await served.add(ACCOUNT, name="owner", scopes=("owner",))
        found = Shell(tmp_path)
        for profile, who in (("owner", "owner"), ("acme", ACCOUNT)):
            key = ("--api-url", served.url, "--api-key", served.keys[who])
            assert (await found.run("profile", "set", profile, *key)).status == 0
        assert (await found.run("profile", "use", "acme")).status == 0
        yield found


async def test_a_flow_is_tried_published_and_rolled_back(shell: Shell) -> None:
    """A draft runs nowhere, and of two people who change a flow at once the second notices it."""
    assert (await shell.run("flow", "put", "trial", HANGUP)).status == 0
    assert (await shell.run("flow", "put", "trial", SAY, "--no-publish")).status == 0
    (flow,) = await shell.shown("flow list")
    assert (flow["flowId"], flow["published"], flow["latest"]) == ("trial", 1, 2)
    changed = [each["path"] for each in await shell.shown("flow diff trial 1 2")]
    assert {"type", "data"} <= set(changed)
    assert (await shell.shown("flow publish trial 2"))["published"] == 2
    assert await shell.shown("flow show trial") == await shell.shown("flow show trial --version 2")
    assert (await shell.shown("flow publish trial 1"))["published"] == 1
    late = await shell.run("flow", "put", "trial", HANGUP, "--if-version", str(flow["version"]))
    assert late.status == 2
    unknown = await shell.run("route", "set", "+19", "flow:trial")
    assert unknown.status == 1  # there is no such number of the account
    assert (await shell.run("flow", "rm", "trial")).status == 0


async def test_an_account_sees_what_it_owns(shell: Shell) -> None:
    """Settings, usage, keys, jobs and the audit trail, each with a key that has the scope."""
    before = await shell.shown("account show")
    change = f"account change --keep-digits-days 7 --if-version {before['version']}"
    assert (await shell.run(*change.split())).status == 2  # nor may an integrator change them
    assert (await shell.shown(f"{change} --profile owner"))["keepDigitsDays"] == 7
    assert "total" in await shell.shown("account usage")
    assert [each["number"] for each in await shell.shown("number list")] == [NUMBER]
    for words in ("job list", "webhook list", "callback dead", "request list"):
        assert await shell.shown(words) is not None
    assert (await shell.run("key", "list")).status == 2  # an integrator's key has no such scope
