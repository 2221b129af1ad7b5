"""From an empty account to an IVR, by the commands of docs/reference/commands.md alone."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.harness.customers.callback_server import CallbackServer
from tests.harness.customers.signatures import verified
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import Api
from tests.harness.until import until

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "commands.md"
ACCOUNT, NUMBER = "cli", "+15550042"
ENDPOINT = "cli-anna"  # of no other test: an endpoint belongs to one account
AGENT_HZ, CALLER_HZ = 600, 400


class Shell(Struct, frozen=True):
    """A customer's shell in an empty folder: it has the command, and the account's key."""

    folder: Path
    key: str

    async def run(self, commands: str) -> str:
        """Run commands; return what they print."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {name: v for name, v in os.environ.items() if not name.startswith("SWITCHROOM_")}
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        process = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", commands),
            cwd=self.folder,
            env={**own, **home, "PATH": path, "key": self.key},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    async def shown(self, command: str) -> Any:
        """Return what a command shows to programs."""
        return json.loads(await self.run(f"switchroom {command} --output json"))


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine."""
    folder = tmp_path / "api"
    async with Api(folder, engines=[lab.engine], account=ACCOUNT, number=NUMBER) as running:
        yield running


def guide(lab: Lab, api: Api, target: CallbackServer) -> str:
    """Return the commands of the page, with the addresses of this test."""
    section = PAGE.read_text().partition("## From an empty account to an IVR")[2]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found is not None
    commands = found[1]
    for example, value in (
        ("http://127.0.0.1:8000", api.url),
        ("+4721930000", NUMBER),
        ("https://example.com/status", target.url("/status")),
        ("PJSIP/acme-anna", f"PJSIP/{ENDPOINT}"),
        ("choose-a-long-one", lab.pbx.passwords.agents),
    ):
        assert example in commands
        commands = commands.replace(example, value)
    return commands


async def test_an_ivr_is_made_with_commands(
    lab: Lab, api: Api, target: CallbackServer, tmp_path: Path
) -> None:
    """The caller reaches the agent by the menu; the call is recorded, reported and listed."""
    shell = Shell(tmp_path, api.api_key)
    printed = await shell.run(guide(lab, api, target))
    assert f"{NUMBER}  flow support" in printed
    secret = re.search(r"whsec_\S+", printed)
    assert secret is not None
    await until_known(lab)
    async with Phone.agent(lab.pbx, ENDPOINT, tone_hz=AGENT_HZ) as agent:
        await until_online(shell)
        async with Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller:
            await caller.wait_answered()
            call = await lab.wait_for_call()
            assert call in [each["callId"] for each in await shell.shown("call list")]
            await caller.press("1")
            await caller.until_hears(AGENT_HZ)
            await agent.until_hears(CALLER_HZ)
            await shell.run(f"switchroom call mute {call} anna")
            assert "muted: in" in await shell.run(f"switchroom call show {call}")
            await shell.run(f"switchroom call hangup {call}")
            await caller.wait_ended()
        await agent.wait_ended()
    await lab.wait_ended(call)
    await until(lambda: "completed" in events(target, call), what="the last callback")
    for each in target.requests:
        assert verified(secret[0], each.body, each.headers, target.url("/status"))
    await until_recorded(shell, call)
    (recording,) = await shell.shown(f"recording list --call {call}")
    await shell.run(f"switchroom recording save {recording['url']} call.wav")
    assert (tmp_path / "call.wav").read_bytes()[:4] == b"RIFF"
    assert (await shell.shown(f"cdr show {call}"))["reqId"] == call
    assert call in [each["reqId"] for each in await shell.shown("cdr list")]


async def until_known(lab: Lab) -> None:
    """Wait until the PBX knows the agent's phone."""

    async def is_known() -> bool:
        return any(each["resource"] == ENDPOINT for each in await lab.ari("endpoints/PJSIP"))

    await until(is_known, what="the PBX to know the agent's phone")


async def until_online(shell: Shell) -> None:
    """Wait until the agent's phone is shown as registered."""

    async def is_online() -> bool:
        return bool((await shell.shown("agent presence anna"))["presence"] == "online")

    await until(is_online, what="the agent to be online")


async def until_recorded(shell: Shell, call: str) -> None:
    """Wait until the recording of a call is archived and listed."""

    async def is_listed() -> bool:
        found = await shell.shown(f"recording list --call {call}")
        return any(each["durationMs"] for each in found)

    await until(is_listed, what="the recording to be listed")


def events(target: CallbackServer, call: str) -> list[str]:
    """Return the events of a call that the customer's server has received."""
    return [each.event["event"] for each in target.requests if each.id.startswith(call)]
