"""Ladders of messages: the call of the tutorial, and a call that survives its engine."""

from collections.abc import Sequence

from msgspec import Struct

from tools.docs.pictures import svg

_FIRST_X, _TOP_Y, _ROW = 80, 64, 34


class Message(Struct, frozen=True):
    """An arrow from one lifeline to another; to itself, a note beside it."""

    start: int
    end: int
    words: str
    ends_life: bool = False


TUTORIAL = (
    Message(0, 1, "dials your number"),
    Message(1, 2, "a call has arrived"),
    Message(2, 3, "POST /call"),
    Message(3, 2, "gather: “Press one…”"),
    Message(2, 1, "answer, play"),
    Message(1, 0, "hears the words"),
    Message(0, 1, "presses 1"),
    Message(1, 2, "digit 1"),
    Message(2, 3, "POST /menu, dtmf: 1"),
    Message(3, 2, "say: “You pressed one”"),
    Message(2, 1, "play, then hang up"),
    Message(1, 0, "hears it, and the end"),
)
SURVIVAL = (
    Message(0, 1, "dials, presses 4 2"),
    Message(1, 2, "digits 4 2, stored"),
    Message(2, 2, "killed", ends_life=True),
    Message(1, 0, "the line stays up"),
    Message(0, 1, "presses 1 7"),
    Message(3, 1, "takes the call over"),
    Message(1, 3, "digits 1 7"),
    Message(3, 4, "POST, dtmf: 4217"),
    Message(4, 3, "the next verb"),
)


def tutorial() -> str:
    names = ("caller", "Asterisk", "engine", "your webhook")
    return ladder("A call that a webhook controls", names, TUTORIAL)


def survival() -> str:
    names = ("caller", "Asterisk", "engine 1", "engine 2", "your webhook")
    return ladder(
        "A call survives the crash of its engine in the middle of a number", names, SURVIVAL
    )


def ladder(title: str, names: Sequence[str], messages: Sequence[Message]) -> str:
    """Draw lifelines from left to right and messages from top to bottom."""
    step = 190 if len(names) < 5 else 165
    lives = [_FIRST_X + index * step for index in range(len(names))]
    bottom = _TOP_Y + len(messages) * _ROW + 10
    ends = {each.start: _y(at) for at, each in enumerate(messages) if each.ends_life}
    parts: list[str] = []
    for index, (x, name) in enumerate(zip(lives, names, strict=True)):
        is_ours = name.startswith("engine")
        parts += svg.labelled((x - 62, 10, 124, 30), name, classes="own" if is_ours else "box")
        parts.append(svg.line((x, 40), (x, ends.get(index, bottom)), "life"))
    for at, each in enumerate(messages):
        parts += _message(each, lives, _y(at))
    return svg.picture(lives[-1] + 80, bottom + 10, title, parts)


def _message(each: Message, lives: Sequence[int], y: float) -> list[str]:
    start, end = lives[each.start], lives[each.end]
    if each.ends_life:
        cross = [svg.line((start - 8, y - sign), (start + 8, y + sign), "dead") for sign in (8, -8)]
        return [*cross, svg.text(start + 14, y + 5, each.words, "bold bad")]
    middle = (start + end) / 2
    return [svg.arrow((start, y), (end, y)), svg.text(middle, y - 5, each.words, "small middle")]


def _y(row: int) -> float:
    return _TOP_Y + row * _ROW + 10
