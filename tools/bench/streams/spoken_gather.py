"""Speech in gather: from the end of speech to the webhook, and from its begin to a silent prompt.

The anchor of the webhook is the recognizer alone: the same speech on a websocket of its own. The
silence that ends an utterance is not counted.
"""

import asyncio
from contextlib import suppress

import numpy as np
from msgspec import Struct

from tests.harness.bots.speech import spoken
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import Samples
from tests.harness.phones.phone import Phone
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import FRAME_MS, stream
from tools.bench.figure import Figure, figure, percentile
from tools.bench.setting import Setting

WORDS = ("sales", "support", "billing")
SILENCE_MS = 500
PROMPT_HZ, PROMPT_MS = 600, 20_000
QUIET = 0.05  # of the loudest sample: less is the end of a word
PAUSE_MS = (700, 740, 760, 910)  # before a caller speaks


class Answer(Struct, frozen=True):
    """What one utterance led to."""

    is_understood: bool
    webhook_ms: float  # after the end of speech and the silence
    prompt_ms: float  # that was heard after the caller had begun


async def spoken_gather(setting: Setting) -> list[Figure]:
    """Let some callers answer prompts again and again, beside the recognizer alone."""
    callers, turns = (2, 5) if setting.quick else (5, 24)
    speech = {word: _trimmed(await spoken(word)) for word in WORDS}
    async with (
        open_lab(setting.folder, gateways=1, has_speech=True) as lab,
        WebhookServer() as hooks,
        MediaServer() as sounds,
    ):
        assert lab.speech is not None
        alone_ms = [await _alone(lab.speech, speech[WORDS[n % 3]]) for n in range(turns)]
        talks = [_talk(lab, hooks, sounds, speech, turns, n) for n in range(callers)]
        answers = [each for talk in await asyncio.gather(*talks) for each in talk]
    waits = [each.webhook_ms for each in answers]
    heard = [each.prompt_ms for each in answers]
    return [
        figure("spoken_gather", "utterances", len(answers), "utterances"),
        figure(
            "spoken_gather",
            "not_understood",
            sum(not each.is_understood for each in answers),
            "utterances",
        ),
        *(
            figure(
                "spoken_gather",
                f"webhook_p{p}",
                percentile(waits, p),
                "ms after the silence",
                percentile(alone_ms, p),
            )
            for p in (50, 99)
        ),
        *(
            figure("spoken_gather", f"prompt_stop_p{p}", percentile(heard, p), "ms")
            for p in (50, 99)
        ),
    ]


def _trimmed(samples: Samples) -> Samples:
    """Return speech without the silence after it."""
    loud = np.flatnonzero(np.abs(samples) > QUIET * np.abs(samples).max())
    speech: Samples = samples[: loud[-1] + 1]
    return speech


async def _alone(speech: SpeechProcess, samples: Samples) -> float:
    """Return how long a recognizer takes from the end of speech, without the silence."""
    audio = samples.astype("<i2").tobytes()
    silence = bytes(8 * 2 * FRAME_MS * 5)
    async with stream(speech, hints=list(WORDS), silenceMs=SILENCE_MS) as opened:
        await opened.expect("ready")
        await opened.send_in_time(silence * 3 + audio)
        ended_ms = now_ms()
        sending = asyncio.create_task(opened.send_in_time(silence * 30))
        await opened.expect("final")
        waited_ms = now_ms() - ended_ms
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending
    return waited_ms - SILENCE_MS


async def _talk(  # noqa: PLR0913, PLR0917 - the parties of a call
    lab: Lab,
    hooks: WebhookServer,
    sounds: MediaServer,
    speech: dict[str, Samples],
    turns: int,
    number: int,
) -> list[Answer]:
    path = f"/said/{number}"
    data = {
        "audioUrl": sounds.tone(PROMPT_HZ, PROMPT_MS),
        "input": ["speech"],
        "hints": list(WORDS),
        "endpointing": {"silenceMs": SILENCE_MS},
        "minConfidence": 0,
    }
    gather = {"type": "gather", "data": data, "action": hooks.url(path)}
    hooks.answers(path, *[gather] * turns, {"type": "hangup"})
    answers: list[Answer] = []
    async with Phone.calling(lab.pbx, await lab.add_number(gather)) as phone:
        await phone.wait_answered()
        phone.send_silence()
        for turn in range(turns):
            await phone.until_hears(PROMPT_HZ)
            await phone.wait_spoken(PAUSE_MS[(turn + number) % len(PAUSE_MS)])
            word = WORDS[(turn + number) % len(WORDS)]
            said = await phone.say(speech[word])
            request = await hooks.wait_for_request(path, turn + 1)
            last_ms = max(
                each.end_ms for each in phone.tones_heard(PROMPT_HZ) if each.start_ms < said.end_ms
            )
            answers.append(
                Answer(
                    request.body.get("speech") == word,
                    request.at_ms - said.end_ms - SILENCE_MS,
                    last_ms - said.start_ms,
                )
            )
        await phone.hang_up()
    return answers
