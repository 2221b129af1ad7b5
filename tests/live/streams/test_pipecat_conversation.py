"""A conversation with a Pipecat bot that this project did not write, by a real call, offline."""

from pathlib import Path

from tests.harness.bots.pipecat_bot import PipecatBot
from tests.harness.bots.speech import spoken
from tests.harness.bots.turns import Turn
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.until import until

PERSON_HZ = 600
RESPONSE_MS = 12_000  # of sound at least, if nothing interrupts it


async def test_a_conversation_with_a_pipecat_bot(lab: Lab, tmp_path: Path) -> None:
    """Greeting, question, response, interruption and digits; a hangup ends the bot's pipeline."""
    question = await spoken("I would like to talk to billing.")
    interruption = await spoken("Stop. I have another question for you.")
    async with PipecatBot(tmp_path) as bot:
        number = await lab.add_number(stream(bot.url, parameters={"language": "en"}))
        async with Phone.calling(lab.pbx, number) as caller:
            greeting = Turn(caller)
            await caller.wait_answered()
            caller.send_silence()
            call = await lab.wait_for_call()
            await greeting.until_over("the greeting")
            started = await bot.wait_for_conversation(lambda _: True, "the bot's pipeline")
            assert started.call == call
            assert started.parameters == {"language": "en"}
            assert "help you" in await bot.transcribe(greeting.recording())

            await caller.say(question)
            response = Turn(caller)
            await bot.wait_for_conversation(lambda each: "billing" in each.text, "the question")
            await response.until_spoken(4_000, "the response")
            before = await bot.wait_for_conversation(lambda _: True, "the pipeline")

            end_of_response = Turn(caller)
            await caller.say(interruption)
            await until(lambda: end_of_response.stopped_ms > 0, what="the bot to be silent")
            await bot.wait_for_conversation(
                lambda each: each.interruptions > before.interruptions, "the interruption"
            )
            heard = await bot.transcribe(response.recording())
            assert "you said" in heard
            assert "billing" in heard
            await bot.wait_for_conversation(lambda each: "question" in each.text, "what was said")
            assert response.speech_ms < RESPONSE_MS

            await caller.press("7")
            await bot.wait_for_conversation(lambda each: each.digits == "7", "the digit")
            await caller.hang_up()
        await bot.wait_for_conversation(lambda each: each.is_over, "the pipeline to end")
    await lab.wait_ended(call)


async def test_a_pipecat_bot_connects_the_caller_with_a_person(lab: Lab, tmp_path: Path) -> None:
    """Pipecat sends the action as it sends any message; afterwards the bot has the caller again."""
    question = await spoken("I would like to talk to billing.")
    async with (
        PipecatBot(tmp_path) as bot,
        Phone.answering(lab.trunk_port, tone_hz=PERSON_HZ) as person,
    ):
        number = await lab.add_number(stream(bot.url, parameters={"operator": "+15550123"}))
        async with Phone.calling(lab.pbx, number) as caller:
            greeting = Turn(caller)
            await caller.wait_answered()
            caller.send_silence()
            call = await lab.wait_for_call()
            await greeting.until_over("the greeting")
            await caller.press("0")
            await caller.until_hears(PERSON_HZ)
            await person.hang_up()
            await caller.until_lost(PERSON_HZ)
            await lab.wait_for_state(call, "streaming")
            await caller.say(question)
            await bot.wait_for_conversation(lambda each: "billing" in each.text, "the question")
            await Turn(caller).until_spoken(2_000, "the response")
            await caller.hang_up()
    await lab.wait_ended(call)


def stream(url: str, **data: object) -> dict[str, object]:
    """Return the verb with the bot at a URL."""
    return {"type": "stream", "data": {"url": url, **data}}
