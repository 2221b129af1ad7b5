"""voicebench, a benchmark of others, talks with the Pipecat bot by a real call."""

from pathlib import Path
from typing import Any

from tests.harness.bots.pipecat_bot import PipecatBot
from tests.harness.bots.speech import spoken
from tests.harness.bots.turns import Turn
from tests.harness.bots.voicebench import run_voicebench
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import wav
from tests.harness.phones.phone import Phone

PATIENCE_MS = 30_000  # of a busy machine
QUESTION = "I would like to talk to billing."
INTERRUPTION = "Stop. I have another question for you."


async def test_the_bot_passes_voicebench(lab: Lab, tmp_path: Path) -> None:
    """It responds to a question, ignores a cough, and stops when it is interrupted."""
    scenario = await make_scenario(tmp_path)
    async with PipecatBot(tmp_path) as bot:
        data = {"url": bot.url, "bargeIn": "pause"}
        number = await lab.add_number({"type": "stream", "data": data})
        async with Phone.calling(lab.pbx, number) as caller:
            greeting = Turn(caller)
            await caller.wait_answered()
            caller.send_silence()
            call = await lab.wait_for_call()
            await greeting.until_over("the greeting")
            report = await run_voicebench(caller, scenario, tmp_path)
            await caller.hang_up()
        await lab.wait_ended(call)
    assert report["passed"], report["assertions"]
    summary = report["summary"]
    assert (summary["turns"], summary["turns_passed"]) == (3, 3), report["sessions"]


async def make_scenario(folder: Path) -> dict[str, Any]:
    """Return what voicebench says and expects, with the audio in files."""
    question, interruption = folder / "question.wav", folder / "interruption.wav"
    question.write_bytes(wav(await spoken(QUESTION)))
    interruption.write_bytes(wav(await spoken(INTERRUPTION)))
    # Its pauses are those between sentences, not those between words.
    conversation = {"agent": {"min_silence_ms": 1_000}}
    return {
        "name": "pipecat-by-telephone",
        "max_duration_ms": 90_000,
        "defaults": {"response_timeout_ms": PATIENCE_MS},
        "vad": conversation,
        "turns": [
            {
                "id": "question",
                "audio": {"file": str(question)},
                "start": {"after": "session_start", "delay_ms": 500},
            },
            {
                "id": "cough",
                "audio": {"synth": "noise", "duration_ms": 120, "level_db": -22},
                "start": {
                    "after": "agent_speech_start",
                    "delay_ms": 1_500,
                    "timeout_ms": PATIENCE_MS,
                },
                "expect": "ignore",
                "max_stop_ms": 1_000,
            },
            {
                "id": "interruption",
                "audio": {"file": str(interruption)},
                "start": {"after": "previous_turn_end", "delay_ms": 1_500},
                "expect": "stop",
                "max_stop_ms": 10_000,
            },
        ],
        "assert": {
            "max_missed_responses": 0,
            "min_barge_in_success_rate": 1,
            "max_false_barge_ins": 0,
        },
    }
