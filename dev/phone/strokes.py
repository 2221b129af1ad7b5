"""What the caller of the lab presses and says, in order."""

from collections.abc import Iterator
from typing import NamedTuple

PAUSES_S = {"w": 0.5, "W": 1.0}  # in the place of a key
SOUND = "p"  # in the place of a key: the sound is played there


class Pressed(NamedTuple):
    """Which keys are pressed, and when; `sound` is played at its place, or before them."""

    digits: str
    after_s: float
    sound: bytes = b""


def strokes(pressed: Pressed) -> Iterator[tuple[float, str]]:
    """Yield the keys, and `SOUND` where it is played, each after a pause in seconds."""
    has_place = not pressed.sound or SOUND in pressed.digits
    pause_s = 0.0
    for each in pressed.digits if has_place else SOUND + pressed.digits:
        if each in PAUSES_S:
            pause_s += PAUSES_S[each]
        else:
            yield pause_s, each
            pause_s = 0.0
