"""What a caller hears of a bot's audio: marks, clears, coughs, and delays that a network causes."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.rtp import PACKET_MS, SILENCE
from tools.bench.streams.talk import Talk, new_frames, talking

PAUSE_S = 0.5  # between two measurements
ROUNDS_A_CALL = 2  # the packets of a phone and of the PBX keep their distance in time
PHASE_MS = 7  # a bot begins at another place of the PBX's clock each time
SPEECH = 150  # frames
COUGH, COUGHS = 6, 6  # packets, and how many of those in one speech
COUGH_EVERY_S = 0.6
SILENT_MS = 45  # between two packets: the audio is paused
LIVE, HELD_FROM, HELD = 200, 50, 10  # frames in real time, of which a network holds some back
PAUSES = 5  # every so many frames of live speech one is silent


class Results(Struct):
    """What was measured, in milliseconds; the last two are frames."""

    mark_errors: list[float] = []
    clear_stops: list[float] = []
    cough_stops: list[float] = []
    drain_times: list[float] = []
    leaked: int = 0
    missing: int = 0


async def bot_audio(lab: Lab, rounds: int) -> list[Figure]:
    """Measure each kind a number of times, on calls of their own."""
    results = Results()
    kinds = (_mark, _clear, _cough, _delay)
    await asyncio.gather(*(_repeat(lab, kind, rounds, results) for kind in kinds))
    return [
        *_percentiles("mark_error", results.mark_errors),
        *_percentiles("clear_stop", results.clear_stops),
        figure("streams", "clear_leaked", results.leaked, "frames"),
        *_percentiles("cough_stop", results.cough_stops),
        figure("streams", "cough_missing", results.missing, "frames"),
        *_percentiles("delay_drained", results.drain_times),
    ]


def _percentiles(name: str, values: Sequence[float]) -> list[Figure]:
    return [figure("streams", f"{name}_p{p}", percentile(values, p), "ms") for p in (50, 99)]


async def _repeat(
    lab: Lab, kind: Callable[[Talk, Results], Awaitable[None]], rounds: int, results: Results
) -> None:
    for first in range(0, rounds, ROUNDS_A_CALL):
        async with talking(lab, "pause") as talk:
            for each in range(min(ROUNDS_A_CALL, rounds - first)):
                await asyncio.sleep(PAUSE_S + each * PHASE_MS % PACKET_MS / 1000)
                talk.forget()
                await kind(talk, results)


async def _mark(talk: Talk, results: Results) -> None:
    """Compare a mark with the end of the audio before it."""
    frames = new_frames(25)
    number = len(talk.bot.messages_of("mark")) + 1
    await talk.say(frames)
    await talk.bot.mark(str(number))
    mark = await talk.bot.wait_for("mark", number)
    ended_ms = await talk.wait_heard(frames[-1]) + PACKET_MS
    results.mark_errors.append(abs(mark.at_ms - ended_ms))


async def _clear(talk: Talk, results: Results) -> None:
    """Clear most of a long speech, and begin another."""
    frames, others = new_frames(SPEECH), new_frames(10)
    await talk.say(frames)
    await talk.wait_heard(frames[20])
    cleared_ms = now_ms()
    await talk.bot.clear()
    await asyncio.sleep(PAUSE_S)
    await talk.say(others)
    await talk.wait_heard(others[-1])
    heard = [each for each in talk.heard_ms(frames) if not math.isnan(each)]
    results.clear_stops.append(max(0.0, heard[-1] - cleared_ms))
    results.leaked += sum(each > cleared_ms + PACKET_MS for each in heard)


async def _cough(talk: Talk, results: Results) -> None:
    """Cough during a speech, again and again: it pauses, and all of it is heard."""
    frames = new_frames(SPEECH)
    await talk.say(frames)
    await talk.wait_heard(frames[5])
    began: list[float] = []
    for _ in range(COUGHS):
        began.append(await talk.make_sound(COUGH))
        await asyncio.sleep(COUGH_EVERY_S)
    await talk.wait_heard(frames[-1])
    heard = talk.heard_ms(frames)
    results.missing += sum(map(math.isnan, heard)) + sum(b < a for a, b in pairwise(heard))
    stops = [a for a, b in pairwise(heard) if b - a > SILENT_MS]
    for at_ms in began:
        stop_ms = next((each for each in stops if each >= at_ms - PACKET_MS), math.inf)
        results.cough_stops.append(max(0.0, stop_ms - at_ms))


async def _delay(talk: Talk, results: Results) -> None:
    """Hold some frames of live speech back, and see when the delay is gone but for a frame."""
    frames = [each if index % PAUSES else SILENCE for index, each in enumerate(new_frames(LIVE))]
    due_ms = await _send_live(talk, frames)
    await asyncio.sleep(PAUSE_S)
    delays = {
        at_ms: at_ms - due
        for due, at_ms, frame in zip(due_ms, talk.heard_ms(frames), frames, strict=True)
        if frame != SILENCE and not math.isnan(at_ms)
    }
    usual_ms = median([*delays.values()][: HELD_FROM // 2])
    late = [at_ms for at_ms, delay in delays.items() if delay > usual_ms + 1.5 * PACKET_MS]
    results.drain_times.append(max(late, default=0.0) - due_ms[HELD_FROM + HELD])


async def _send_live(talk: Talk, frames: Sequence[bytes]) -> list[float]:
    """Send frames in real time, but for those that are held back; return when each was due."""
    began_ms = now_ms()
    due_ms = [began_ms + index * PACKET_MS for index in range(len(frames))]
    for index, (due, frame) in enumerate(zip(due_ms, frames, strict=True)):
        is_held = HELD_FROM <= index < HELD_FROM + HELD
        wait_until_ms = due_ms[HELD_FROM + HELD] if is_held else due
        await asyncio.sleep((wait_until_ms - now_ms()) / 1000)
        await talk.bot.send_media(frame)
    return due_ms
