"""`switchroom webhook`: lists, shows, repeats and follows attempts that an engine has logged."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from base.tasks import cancel_all
from engine.webhooks.errors import WebhookFailed
from tests.contract.rpc.webhooks.scene import CALL, GATHERED, WebhookScene
from tests.harness.cli.rest_shell import RestShell, rest_shell
from tests.harness.until import until


@pytest.fixture
async def shell(webhook_scene: WebhookScene, tmp_path: Path) -> AsyncIterator[RestShell]:
    """Run the REST layer of the account that the attempts are of."""
    async with rest_shell(tmp_path, webhook_scene.scene.url) as found:
        yield found


async def run(shell: RestShell, *words: str) -> str:
    """Run a command that must succeed; return what it printed."""
    status, out, err = await shell.run("webhook", *words)
    assert status == 0, err
    return out


async def test_lists(webhook_scene: WebhookScene, shell: RestShell) -> None:
    """All attempts, those of a kind or a call, and those that failed."""
    assert "no attempts" in await run(shell, "list")
    await webhook_scene.ask(0)
    await webhook_scene.ask(1, GATHERED)
    webhook_scene.server.answers = [web.Response(status=500)]
    with pytest.raises(WebhookFailed):
        await webhook_scene.ask(2)
    await webhook_scene.scene.attempts.flush()
    listed = await run(shell, "list")
    assert [f"{CALL}.r{number}" in listed for number in range(3)] == [True] * 3
    assert f"{CALL}.r0" not in await run(shell, "list", "--kind", "gather")
    failed = await run(shell, "list", "--failed", "--call", CALL)
    assert "status_500" in failed
    assert f"{CALL}.r1" not in failed
    assert f"{CALL}.r2" in await run(shell, "list", "--limit", "1")


async def test_one_attempt_and_its_repetition(
    webhook_scene: WebhookScene, shell: RestShell
) -> None:
    """They are shown with headers and bodies, which are masked."""
    await webhook_scene.ask(body=b'{"event":"start"}')
    (attempt,) = await webhook_scene.list()
    shown = await run(shell, "show", attempt["id"])
    for text in (f"> POST {webhook_scene.url}", '{"event":"start"}', "< 200", '{"type": "hangup"}'):
        assert text in shown
    assert "> webhook-signature: ***" in shown
    repeated = await run(shell, "retry", attempt["id"], "--output", "json")
    assert f'"retryOf": "{attempt["id"]}"' in repeated
    assert len(webhook_scene.server.requests) == 2


async def test_the_log_is_followed(webhook_scene: WebhookScene, shell: RestShell) -> None:
    """`tail` prints what is made after it started."""
    await webhook_scene.ask(0)
    tail = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("switchroom")), "webhook", "tail",
        stdout=asyncio.subprocess.PIPE, cwd=shell.folder, env={**os.environ, **shell.settings},
    )  # fmt: skip
    assert tail.stdout is not None
    line = asyncio.ensure_future(tail.stdout.readline())
    try:

        async def is_printed() -> bool:
            await webhook_scene.ask(1)
            return line.done()

        await until(is_printed, every_s=0.3, what="a line")
    finally:
        tail.kill()
        await tail.communicate()
        await cancel_all([line])
    assert f"{CALL}.r1 #1 200" in line.result().decode()
