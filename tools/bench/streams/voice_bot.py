"""A Pipecat bot by telephone, as voicebench measures it, which is a benchmark of others.

Whatever the bot's own detector needs, `bargeIn: pause` makes it silent at the first sound.
"""

from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

from tests.harness.bots.pipecat_bot import PipecatBot
from tests.harness.bots.turns import Turn
from tests.harness.bots.voicebench import conversation_scenario, run_voicebench
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

MODES = ("off", "pause")
Summary = dict[str, Any]


async def voice_bot(setting: Setting) -> list[Figure]:
    """Hold some conversations with and without barge-in by the gateway."""
    rounds = 1 if setting.quick else 3
    numbers = count()
    async with (
        open_lab(setting.folder / "lab", gateways=1) as lab,
        PipecatBot(setting.folder) as bot,
    ):
        summaries = {
            mode: [await _talk(lab, bot, mode, setting, next(numbers)) for _ in range(rounds)]
            for mode in MODES
        }
    everything = [each for mode in MODES for each in summaries[mode]]
    off_ms, pause_ms = (_stop_ms(summaries[mode]) for mode in MODES)
    return [
        figure("voice_bot", "response_p50", median(_all(everything, "response_latency_ms")), "ms"),
        figure("voice_bot", "barge_in_stop_p50", pause_ms, "ms", off_ms),
        figure("voice_bot", "false_barge_ins", _false_barge_ins(summaries["pause"]), "calls"),
    ]


async def _talk(lab: Lab, bot: PipecatBot, mode: str, setting: Setting, number: int) -> Summary:
    folder = setting.folder / f"talk{number}"
    folder.mkdir()
    data = {"url": bot.url, "bargeIn": mode}
    dialed = await lab.add_number({"type": "stream", "data": data})
    async with Phone.calling(lab.pbx, dialed) as caller:
        greeting = Turn(caller)
        await caller.wait_answered()
        caller.send_silence()
        call = await lab.wait_for_call()
        await greeting.until_over("the greeting")
        report = await run_voicebench(caller, await conversation_scenario(folder), folder)
        await caller.hang_up()
    await lab.wait_ended(call)
    summary: Summary = report["summary"]
    return summary


def _all(summaries: list[Summary], name: str) -> Iterator[float]:
    return (each[name]["p50"] for each in summaries)


def _stop_ms(summaries: list[Summary]) -> float:
    return median(_all(summaries, "barge_in_stop_ms"))


def _false_barge_ins(summaries: list[Summary]) -> int:
    return sum(each["false_barge_ins"] for each in summaries)
