"""What the page of a call reads: only what is new while it lives, and its replay after its end."""

from typing import Any

from msgspec.structs import replace
from playwright.async_api import Browser, Response, expect
from redis.asyncio import Redis

from engine.calls.model.storage_format import decode_log_entry, encode
from engine.store.redis.script_connection import shard_key
from tests.harness.console.browser import console_page
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient
from wire.call_id_format import shard_of

GATHER = {"type": "gather", "data": {"maxDigits": 40, "timeout": 60_000}}


async def test_a_live_ladder_reads_what_is_new(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """After the first read each response has the rows since the last one, and none twice."""
    customer = await parties.call_in(await lab.add_number(GATHER, account=api.account))
    read: list[tuple[bool, list[dict[str, Any]]]] = []

    async def on_response(response: Response) -> None:
        if "/timeline" in response.url and response.ok:
            read.append(("after=" in response.url, (await response.json())["rows"]))

    async with console_page(browser, api) as page:
        page.on("response", on_response)
        await page.goto(f"{api.url}/console/calls/{parties.call}")
        for digit in "123456":
            await customer.press(digit)
            await expect(page.locator(".step", has_text=f"presses {digit}")).to_have_count(1)
        await customer.hang_up()
        await expect(page.get_by_text("Outcome", exact=True)).to_be_visible()
        (whole, _), *later = read
        assert not whole
        assert all(is_part for is_part, _ in later)
        texts = [row["text"] for _, rows in read for row in rows]
        digits = [each for each in texts if each.startswith("presses ")]
        assert digits == [f"presses {digit}" for digit in "123456"]


async def test_a_replay_that_differs_shows_the_step(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """A log whose checksum is another one, as of an engine that decided otherwise."""
    customer = await parties.call_in(await lab.add_number(GATHER, account=api.account))
    await lab.wait_for_state(parties.call, "gathering")
    await customer.hang_up()
    await lab.wait_ended(parties.call)
    step = await forge_step(lab, parties.call)
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        await page.get_by_role("button", name="Replay with this engine").click()
        result = page.locator("call-replay [role=status]")
        await expect(result).to_contain_text("The engine would decide otherwise now")
        await expect(result).to_contain_text(f"Step {step}: the commands differ")
        await result.get_by_role("button", name="Show").click()
        await expect(page.locator(".step.selected")).to_have_count(1)


async def forge_step(lab: Lab, call: str) -> int:
    """Change the checksum of a step's commands in the store; return its number."""
    shard = shard_of(call)
    assert shard is not None
    key = shard_key(shard, "log", call)
    client: Any = Redis.from_url(lab.valkey.url)  # its types know texts only
    async with client:
        lines = await client.lrange(key, 0, -1)
        number, entry = next(
            (number, entry)
            for number, entry in enumerate(map(decode_log_entry, lines[1:]), 1)
            if entry.digest
        )
        forged = encode(replace(entry, digest=entry.digest ^ 1))
        await client.lset(key, number, forged)
    return number
