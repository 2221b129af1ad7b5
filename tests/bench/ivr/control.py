"""How soon a control command is heard, and how long a transfer is silent, beside 50 calls/s.

Measured on the RTP that phones receive: from the request's leaving to the arrival of the last
packet with the tone that ends, or of the first with the tone that begins.
"""

import asyncio

from tests.bench.figure import Figure, figure, percentile
from tests.bench.ivr.load import load
from tests.bench.ivr.stack import BY_ENGINE, Stack, stack
from tests.bench.setting import Setting
from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.parties import Parties
from tests.harness.ports import free_port
from tests.harness.until import until

RATE = 50
TURNS = (("mute", "unmute"), ("hold", "unhold"))
TALKING = {"customer": "source", "source": "customer"}
Waits = dict[str, list[float]]


async def control(setting: Setting) -> list[Figure]:
    """Steer one conversation again and again, then transfer others, while the engine is loaded."""
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


async def _until_silent_ms(parties: Parties, deed: str, leg: str) -> float:
    """Tell when the source heard the customer last, after the request."""
    await parties.expect_audio(**TALKING)
    asked_ms = now_ms()
    await parties.control(deed, channelId=leg)
    await parties.expect_audio(source="")
    return max(0.0, parties.listener("source").last_ms("customer") - asked_ms)


async def _until_heard_ms(parties: Parties, deed: str, leg: str) -> float:
    """Tell when the source heard the customer again, after the request."""
    asked_ms = now_ms()
    await parties.control(deed, channelId=leg)
    await parties.expect_audio(**TALKING)
    return parties.listener("source").first_ms("customer", asked_ms) - asked_ms


async def _gap_ms(lab: Lab) -> float:
    """Tell how long the customer and the target do not hear each other once it is completed."""
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
        asked_ms = now_ms()
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
    return max(both) - asked_ms
