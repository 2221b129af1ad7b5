"""Sensitive digits on real calls: every file, key, database row, log and trace is searched."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.harness.api.databases import sqlite_url
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.contents import files_with, keys_with
from tests.harness.servers.records_api import RecordsApi
from tests.harness.servers.span_collector import Collector
from tests.harness.until import until
from tests.live.verbs.test_sensitive_gather import digits_in_timeline

ACCOUNT = "records"
PINS = 2
PIN_DIGITS = 12  # so many that no other number contains them by chance
FAST_EXPORT = {"OTEL_BSP_SCHEDULE_DELAY": "100"}  # milliseconds


class Installation(Struct, frozen=True):
    """All servers of a platform, with their files below one folder, and a customer's."""

    folder: Path
    lab: Lab
    api: RecordsApi
    collector: Collector
    hooks: WebhookServer

    async def gather(self, pin: str, *, sensitive: bool, engine_dies: bool = False) -> str:
        """Let a caller type digits in a recorded call; returns the call after its end."""
        data = {"sensitive": sensitive, "timeout": 300_000, "digitTimeout": 300_000}
        path = f"/card/{secrets.token_hex(4)}"
        action = {"type": "gather", "data": data, "action": self.hooks.answers(path, None)}
        async with Phone.answering(self.lab.trunk_port) as phone:
            call = await self.lab.call(
                account=ACCOUNT, to="+15550100", action=action, recordCall=True
            )
            await self.lab.wait_for_state(call, "gathering")
            typed = PIN_DIGITS // 2 if engine_dies else 0
            if engine_dies:
                await phone.press(pin[:typed])
                await self._wait_stored(call, typed)
                await self.lab.engine.kill()
                await self.lab.ensure_running()
            await phone.press(f"{pin[typed:]}#")
            result = await self.hooks.wait_for_request(path)
            await phone.wait_ended()
        assert result.body["dtmf"] == pin
        await self.lab.engine.wait_for_event(call, "completed")
        await self._wait_written(call)
        return call

    async def found(self, text: str) -> set[str]:
        """Return all places that contain a text, but the customer's webhook."""
        other = [each.body for each in self.hooks.requests if "/card/" not in each.path]
        places = {f"file {each}" for each in files_with(self.folder, text)}
        places |= {f"key {each}" for each in await keys_with(self.lab.valkey.url, text)}
        if text in json.dumps(other):
            places.add("another webhook or callback")
        if any(text.encode() in each for each in self.collector.exports):
            places.add("a span")
        return places

    async def logged(self, call: str) -> list[dict[str, Any]]:
        """Return the attempts of a call in the webhook log, which are compressed in the store."""
        path = f"/webhooks/{ACCOUNT}"
        found: list[dict[str, Any]] = []

        async def is_logged() -> bool:
            page = await self.lab.engine.rpc("GET", f"{path}?callId={call}")
            found[:] = page["attempts"]
            return any(each["kind"] == "gather" for each in found)

        await until(is_logged, what=f"the attempts of {call}")
        return [await self.lab.engine.rpc("GET", f"{path}/{each['id']}") for each in found]

    async def _wait_stored(self, call: str, digits: int) -> None:
        async def is_stored() -> bool:
            return len(await digits_in_timeline(self.lab, call)) == digits

        await until(is_stored, what="the digits in the store")

    async def _wait_written(self, call: str) -> None:
        """Wait for what is written after a call: its record, recording, callback and spans."""

        async def is_written() -> bool:
            status, record = await self.api.request("GET", f"/srmain/cdr/{call}")
            return status == 200 and bool(record.get("recordings") or record.get("recording"))

        await until(is_written, what=f"the record of {call}")
        await until(
            lambda: f'"{call}"' in json.dumps([e.body for e in self.hooks.requests_to("/events")]),
            what=f"the callbacks of {call}",
        )
        await until(
            lambda: any(call.encode() in each for each in self.collector.exports),
            what=f"the spans of {call}",
        )


@asynccontextmanager
async def installation(folder: Path, hooks: WebhookServer) -> AsyncIterator[Installation]:
    """Run everything; each event of the account also goes to its callback."""
    async with Collector() as collector:
        traced = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url(), **FAST_EXPORT}
        verbose = {**traced, "SWITCHROOM_LOG_LEVEL": "debug"}
        async with (
            open_lab(folder, engine_settings=verbose) as lab,
            RecordsApi(
                folder / "api",
                database_url=sqlite_url(folder),
                engine_url=lab.engine.url,
                rpc_token=lab.engine.token,
                account=ACCOUNT,
                settings={"SWITCHROOM_LOG_LEVEL": "debug"},
            ) as api,
        ):
            target = {"target": hooks.answers("/events", None)}
            await api.request("PUT", "/srmain/voice/callbacks", target)
            yield Installation(folder, lab, api, collector, hooks)


def random_pin() -> str:
    return "".join(secrets.choice("0123456789") for _ in range(PIN_DIGITS))


async def test_the_digits_are_nowhere_but_at_their_webhook(
    tmp_path: Path, hooks: WebhookServer
) -> None:
    """Also after the engine has died among them; other digits are where they are looked for."""
    control, *pins = (random_pin() for _ in range(PINS + 1))
    async with installation(tmp_path, hooks) as all_of_it:
        other = await all_of_it.gather(control, sensitive=False)
        calls = [
            await all_of_it.gather(pin, sensitive=True, engine_dies=pin == pins[0]) for pin in pins
        ]
        for pin, call in zip(pins, calls, strict=True):
            assert await all_of_it.found(pin) == set()
            timeline = await all_of_it.lab.engine.rpc("GET", f"/calls/{call}/timeline")
            _, record = await all_of_it.api.request("GET", f"/srmain/cdr/{call}")
            assert pin not in json.dumps([timeline, record])
            assert pin not in json.dumps(await all_of_it.logged(call))
        known = await all_of_it.found(control)
        assert control in json.dumps(await all_of_it.logged(other))
    for begun in ("DTMF begin", "DTMF end"):  # as Asterisk can log each key
        assert files_with(tmp_path, begun) == set()
    for place in ("key ", "file valkey/", "file switchroom.db", "another webhook or callback"):
        assert any(each.startswith(place) for each in known), (place, known)
    for pin in pins:  # what was written while the servers ended
        assert files_with(tmp_path, pin) == set()
