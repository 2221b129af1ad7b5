"""Gathers that understand speech: transcripts, paused prompts, and the recognizers behind them.

This compares calls with what the gateways' recognizers heard and understood, and with the PBX.
"""

from collections.abc import Iterator, Sequence

from tests.sim.call_histories import CallHistory
from tests.sim.checks.speech import pauses, recognizers, transcripts, utterances
from tests.sim.checks.speech.gathers import speech_gathers
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every gather that understands speech, and every pause of a prompt."""
    if not world.recognizers:
        return
    yield from pauses.check(world, histories)
    for history in histories:
        yield from ((history.id, message) for message in recognizers.misplaced(history))
        for gather in speech_gathers(history):
            for message in (
                *transcripts.check(world, gather),
                *utterances.check(world, gather),
                *pauses.disobeyed(world, gather),
                *pauses.cut_short(world, gather),
                *recognizers.check(world, gather),
            ):
                yield history.id, message
