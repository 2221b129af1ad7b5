"""The texts of Asterisk's chan_websocket, with `transport_data=f(json)`."""

import msgspec
from msgspec import Struct

FLUSH = b'{"command":"FLUSH_MEDIA"}'
PAUSE = b'{"command":"PAUSE_MEDIA"}'
ASK_QUEUE = b'{"command":"GET_STATUS"}'
CONTINUE = b'{"command":"CONTINUE_MEDIA"}'


class PbxEvent(Struct, frozen=True):
    """An event of the PBX; unknown fields and events are ignored."""

    event: str
    format: str = ""
    optimal_frame_size: int = 0
    correlation_id: str = ""
    queue_length: int = 0  # frames


_DECODER = msgspec.json.Decoder(PbxEvent)


def mark_command(key: str) -> bytes:
    """Return the command that has a mark returned; keys are the gateway's, without quotes."""
    return b'{"command":"MARK_MEDIA","correlation_id":"%b"}' % key.encode()


def read_event(data: bytes) -> PbxEvent | None:
    """Return an event; None for what is none."""
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError:
        return None
