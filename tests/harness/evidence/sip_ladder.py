"""The SIP messages of a test's phones as a ladder: the PBX is its first line."""

from collections.abc import Sequence

from tests.harness.evidence.collector import CollectedMessage, CollectedPhone

PBX = "PBX"
STEP = 16  # columns between two lines
TIME_WIDTH = 10


def draw_sip(phones: Sequence[CollectedPhone], began_ms: float) -> str:
    """Draw the messages of all phones in the order of their times, which are since `began_ms`."""
    talked = [phone for phone in phones if phone.messages]
    names = [PBX, *(phone.name for phone in talked)]
    heading = " " * TIME_WIDTH + "".join(f"{name:<{STEP}}" for name in names)
    moments = sorted(
        (
            (message.at_ms, at, message)
            for at, phone in enumerate(talked, 1)
            for message in phone.messages
        ),
        key=lambda moment: moment[:2],
    )
    rows = [_row(moment, began_ms, len(names)) for moment in moments]
    return "\n".join((heading.rstrip(), *rows))


def _row(moment: tuple[float, int, CollectedMessage], began_ms: float, lines: int) -> str:
    at_ms, phone, message = moment
    cells = ["│" + " " * (STEP - 1)] * lines
    drawn = list("".join(cells))
    end = phone * STEP
    drawn[1:end] = ["─"] * (end - 1)
    if message.is_sent:
        drawn[1] = "◀"
    else:
        drawn[end - 1] = "▶"
    time = f"{(at_ms - began_ms) / 1000:>8.3f}"
    return f"{time:<{TIME_WIDTH}}{''.join(drawn).rstrip()}  {_text(message)}"


def _text(message: CollectedMessage) -> str:
    line = message.first_line.removesuffix(" SIP/2.0").removeprefix("SIP/2.0 ")
    of = f" ({message.method})" if message.status else ""
    sdp = " with SDP" if "\nm=audio" in message.text else ""
    return f"{line}{of}{sdp}"
