"""When an event is retried, and when it is given up (docs/callbacks.md)."""

from msgspec import Struct

DELAYS_S = (0.0, 5.0, 300.0, 1_800.0, 7_200.0, 18_000.0)
MAX_RETRY_AFTER_S = 3_600.0
JITTER = 0.1  # of a delay, either way: events that failed together don't return together
MAX_AGE_FACTOR = 1.2  # of the whole schedule: an event that waited behind others gets no second one


class RetrySchedule(Struct, frozen=True):
    """The delay in seconds before each attempt."""

    delays_s: tuple[float, ...] = DELAYS_S

    def next_delay_s(
        self, tries: int, age_s: float, retry_after_s: float | None, random: float
    ) -> float | None:
        """Return the delay after so many attempts; None: give up.

        `retry_after_s` is what the server requested (Retry-After), `random` within 0..1.
        """
        if tries >= len(self.delays_s) or self.is_expired(age_s):
            return None
        delay_s = self.delays_s[tries] * (1 + JITTER * (2 * random - 1))
        return max(delay_s, min(retry_after_s or 0.0, MAX_RETRY_AFTER_S))

    def is_expired(self, age_s: float) -> bool:
        """Return whether an event is older than all attempts together take."""
        return age_s > sum(self.delays_s) * MAX_AGE_FACTOR + MAX_RETRY_AFTER_S
