"""Messages of ARI, decoded as the engine does it."""

from typing import Any

import msgspec

from engine.ari.generated.events import Event as AriEvent
from tests.harness.calls.builders import CHANNEL, MAIN

_decode = msgspec.json.Decoder(AriEvent).decode


def channel(channel_id: str, state: str = "Up") -> dict[str, Any]:
    """Show a channel as Asterisk does."""
    return {
        "id": channel_id,
        "protocol_id": "x@y",
        "name": "PJSIP/trunk-00000001",
        "state": state,
        "caller": {"name": "", "number": "+4722222222"},
        "connected": {"name": "", "number": ""},
        "accountcode": "",
        "dialplan": {
            "context": "from-trunk",
            "exten": "+4733333333",
            "priority": 1,
            "app_name": "Stasis",
            "app_data": "switchroom-0,inbound",
        },
        "creationtime": "2026-11-21T05:00:00.000+0000",
        "language": "en",
    }


def ari(kind: str, **fields: Any) -> Any:
    """Make an ARI event as the websocket delivers it."""
    message = {
        "type": kind,
        "timestamp": "2026-11-21T05:00:00.000+0000",
        "application": "switchroom-0",
        "asterisk_id": "00:00",
        **fields,
    }
    return _decode(msgspec.json.encode(message))


def refer(leg: str = MAIN, **destination: str) -> Any:
    """Make the event of a REFER that a phone sent on a leg."""
    return ari(
        "ChannelTransfer",
        refer_to={"requested_destination": destination},
        referred_by={"source_channel": channel(leg)},
    )


def refer_to_call(**dialplan: str) -> Any:
    """Make the event of a REFER with Replaces, which names the inbound leg of another call."""
    replaced = channel(CHANNEL)
    destination = {"destination": "456", "protocol_id": "a@b"}
    return ari(
        "ChannelTransfer",
        refer_to={
            "requested_destination": destination,
            "destination_channel": {**replaced, "dialplan": {**replaced["dialplan"], **dialplan}},
        },
        referred_by={"source_channel": channel(MAIN)},
    )
