"""A voice bot: a caller asks a Pipecat bot something, hears its response, and interrupts it."""

from dev.phone.caller import CALLER_PORTS
from tests.harness.bots.pipecat_bot import PipecatBot
from tests.harness.bots.speech import spoken
from tests.harness.bots.turns import Turn
from tests.harness.phones.phone import Phone
from tests.harness.until import until
from tools.demo.context import DemoContext
from tools.demo.measure import Check, is_completed, nothing_left

QUESTION = "I would like to talk to billing."
INTERRUPTION = "Stop. I have another question for you."


class Heard:
    """What the bot has said, and what it has understood."""

    greeting = ""
    response = ""
    understood = ""
    stop_ms = 0.0  # when the bot stopped, from the caller's first sound
    interruption_ms = 0.0  # how long the caller spoke


async def play(context: DemoContext) -> list[Check]:
    """Run the scenario, save its results and check them."""
    context.console.print("the bot's packages are installed once: 800 MB in .venv/pipecat-bot")
    async with PipecatBot(context.out) as bot:
        action = {"type": "stream", "data": {"url": bot.url, "bargeIn": "pause"}}
        async with context.routed(action):
            return await _run(context, bot)


async def _run(context: DemoContext, bot: PipecatBot) -> list[Check]:
    existing = await context.live_calls()
    heard = Heard()
    async with Phone.calling(context.pbx, context.number, port=CALLER_PORTS[0]) as caller:
        greeting = Turn(caller)
        await caller.wait_answered()
        caller.send_silence()
        call_id = await context.wait_for_call(existing)
        timeline = await context.run_call(call_id, _talk(caller, greeting, bot, heard))
    context.save("voice-bot", timeline, {"caller": caller})
    return [
        is_completed(timeline),
        Check("the bot greets the caller", "help you" in heard.greeting, f"“{heard.greeting}”"),
        Check("the bot understands", "billing" in heard.understood, f"“{heard.understood}”"),
        Check("its response is heard", "you said" in heard.response, f"“{heard.response}”"),
        Check(
            "it stops while it is interrupted",
            0 < heard.stop_ms < heard.interruption_ms,
            f"{heard.stop_ms:.0f} of {heard.interruption_ms:.0f} ms after the caller's first sound",
        ),
        nothing_left(await context.channels_left(call_id)),
    ]


async def _talk(caller: Phone, greeting: Turn, bot: PipecatBot, heard: Heard) -> None:
    await greeting.until_over("the greeting")
    heard.greeting = await bot.transcribe(greeting.recording())
    question, interruption = await spoken(QUESTION), await spoken(INTERRUPTION)
    await caller.say(question)
    response = Turn(caller)
    await response.until_spoken(4_000, "the response")
    before_stop = Turn(caller)
    interrupted = await caller.say(interruption)
    await until(lambda: before_stop.stopped_ms > 0, what="the bot to stop")
    heard.stop_ms = before_stop.stopped_ms - interrupted.start_ms
    heard.interruption_ms = interrupted.end_ms - interrupted.start_ms
    heard.response = await bot.transcribe(response.recording())
    conversation = await bot.wait_for_conversation(
        lambda each: "question" in each.text, "the bot to understand the interruption"
    )
    heard.understood = conversation.text
    await caller.hang_up()
