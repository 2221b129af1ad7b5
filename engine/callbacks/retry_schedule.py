"""When an event is tried again, and when it is given up (design section 7)."""

from msgspec import Struct

DELAYS_S = (0.0, 5.0, 300.0, 1_800.0, 7_200.0, 18_000.0)
MAX_RETRY_AFTER_S = 3_600.0
JITTER = 0.1  # of a delay, to both sides: those who failed together don't come back together
MAX_AGE_FACTOR = 1.2  # of the whole schedule: an event that waited behind others gets no second one


class RetrySchedule(Struct, frozen=True):
    """Seconds before each try."""

    delays_s: tuple[float, ...] = DELAYS_S

    def next_delay_s(
        self, tries: int, age_s: float, asked_s: float | None, random: float
    ) -> float | None:
        """Tell how long to wait after so many tries; None: it is given up.

        `asked_s` is what the server asked for (Retry-After), `random` within 0..1.
        """
        if tries >= len(self.delays_s) or self.is_expired(age_s):
            return None
        wait_s = self.delays_s[tries] * (1 + JITTER * (2 * random - 1))
        return max(wait_s, min(asked_s or 0.0, MAX_RETRY_AFTER_S))

    def is_expired(self, age_s: float) -> bool:
        """Tell whether something has waited for longer than all tries take."""
        return age_s > sum(self.delays_s) * MAX_AGE_FACTOR + MAX_RETRY_AFTER_S
