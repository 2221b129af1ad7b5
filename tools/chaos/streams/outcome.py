"""What callers noticed of a fault, and the limits of that."""

from math import inf

from msgspec import Struct


class StreamLimits(Struct, frozen=True):
    """Limits of what ten callers may notice; by default no sound of theirs may be lost."""

    missing: float = 0
    unheard_ms: float = 0
    silence_ms: float = 200
    delay_ms: float = 200  # bots may be 100 ms ahead

    def scaled(self, times: float) -> "StreamLimits":
        """Return the limits of a machine that is so much busier."""
        return StreamLimits(
            self.missing, self.unheard_ms * times, self.silence_ms * times, self.delay_ms * times
        )


class StreamOutcome(Struct, frozen=True):
    """Figures of one fault.

    `missing` sounds did not come back from their bot, for `unheard_ms` at most without a break;
    99 % of talkers had no packet for at most `silence_ms`. In the end a sound takes `delay_ms` to
    the bot and back. `errors` are unexpected lines of logs.
    """

    fault: str
    live: int
    dropped: int = 0
    missing: int = 0
    unheard_ms: float = 0
    silence_ms: float = 0
    delay_ms: float = 0
    broken_prompts: int = 0
    not_understood: int = 0
    left: int = 0
    errors: int = 0
    notes: tuple[str, ...] = ()

    def misses(self, limits: StreamLimits) -> tuple[str, ...]:
        """Return the violations."""
        wrong = ("dropped", "broken_prompts", "not_understood", "left", "errors")
        missed = [name.replace("_", " ") for name in wrong if getattr(self, name)]
        if self.missing > limits.missing:
            missed.append(f"{self.missing} echoes missing")
        if self.unheard_ms > limits.unheard_ms:
            missed.append(f"unheard > {limits.unheard_ms:.0f} ms")
        if self.silence_ms > limits.silence_ms:
            missed.append(f"silence > {limits.silence_ms:.0f} ms")
        if self.delay_ms > limits.delay_ms:
            missed.append(f"delay > {limits.delay_ms:.0f} ms")
        return (*missed, *self.notes)


def lossy(unheard_ms: float, silence_ms: float = 200) -> StreamLimits:
    """Return the limits of a fault that breaks the connections of bots for so long."""
    return StreamLimits(inf, unheard_ms, silence_ms)
