"""Latency of control requests and the silence of a transfer, beside 50 calls/s.

Measured on the RTP that phones receive: from sending the request to the last packet with the old
tone, or the first packet with the new tone.
"""

import asyncio

from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.parties import Parties
from tests.harness.ports import free_port
from tests.harness.until import until
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.load import load
from tools.bench.ivr.stack import BY_ENGINE, Stack, stack
from tools.bench.setting import Setting

RATE = 50
TURNS = (("mute", "unmute"), ("hold", "unhold"))
CONNECTED = {"customer": "source", "source": "customer"}
Waits = dict[str, list[float]]


async def control(setting: Setting) -> list[Figure]:
    """Control one conversation repeatedly, then transfer others, under load."""
    rounds = 5 if setting.quick else 50
    async with stack(setting.folder) as running:
        lab = Lab(running.valkey, running.pbx, running.engine, free_port())
        loading = asyncio.create_task(_load(running, setting, rounds))
        try:
            waits = await _control_waits(lab, rounds)
            waits["transfer_gap"] = [await _gap_ms(lab) for _ in range(rounds // 2)]
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
    return [
        figure("control", f"{name}_p{percent}", percentile(values, percent), "ms")
        for name, values in waits.items()
        for percent in (50, 99)
    ]


async def _load(running: Stack, setting: Setting, rounds: int) -> None:
    await load(running.pbx.sip_port, BY_ENGINE, RATE, 30 + rounds * 6, setting.folder)


async def _control_waits(lab: Lab, rounds: int) -> Waits:
    waits: Waits = {}
    async with Parties(lab) as parties:
        await parties.connect_from_source()
        leg = await parties.leg("customer")
        for _ in range(rounds):
            for off, on in TURNS:
                waits.setdefault(off, []).append(await _until_silent_ms(parties, off, leg))
                waits.setdefault(on, []).append(await _until_heard_ms(parties, on, leg))
        await parties.hang_up()
    return waits


async def _until_silent_ms(parties: Parties, operation: str, leg: str) -> float:
    """Return the time from the request until the source last heard the customer."""
    await parties.expect_audio(**CONNECTED)
    requested_ms = now_ms()
    await parties.control(operation, channelId=leg)
    await parties.expect_audio(source="")
    return max(0.0, parties.listener("source").last_ms("customer") - requested_ms)


async def _until_heard_ms(parties: Parties, operation: str, leg: str) -> float:
    """Return the time from the request until the source heard the customer again."""
    requested_ms = now_ms()
    await parties.control(operation, channelId=leg)
    await parties.expect_audio(**CONNECTED)
    return parties.listener("source").first_ms("customer", requested_ms) - requested_ms


async def _gap_ms(lab: Lab) -> float:
    """Return the time from completion until customer and target hear each other."""
    async with Parties(lab) as parties:
        await parties.connect_from_source()
        target = await parties.add_phone("target")
        session = await parties.control(
            "transfers",
            transferMode="attended",
            sourceChannelId=await parties.leg("source"),
            customerChannelId=await parties.leg("customer"),
            target={"kind": "number", "number": target.address},
        )
        await parties.expect_audio(source="target", target="source")
        requested_ms = now_ms()
        await parties.control(
            f"transfers/{session['transferSessionId']}/complete",
            completedByAgentId="ada",
            reason="manual_complete",
        )
        await until(
            lambda: parties.heard_now("customer")["customer"] == {"target"}, what="the target"
        )
        both = (
            parties.listener("customer").first_ms("target"),
            parties.listener("target").first_ms("customer"),
        )
        await parties.hang_up()
    return max(both) - requested_ms
