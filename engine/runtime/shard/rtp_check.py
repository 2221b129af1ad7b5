"""Hangs up an answered leg without media: its party answered with codecs that were not offered.

Asterisk keeps such a channel, without any audio (docs/asterisk.md).
"""

import structlog

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.calls.model import causes
from engine.calls.model.events import Event, LegAnswered
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.live_call import LiveCall
from wire.call_id_format import call_of

log = structlog.get_logger()
NO_RTP = 404  # the channel has no RTP instance, or has ended


def check_media(context: ShardContext, live_call: LiveCall, event: Event) -> None:
    """Query the RTP statistics of a called leg that has just answered."""
    if not isinstance(event, LegAnswered) or call_of(event.leg) is None:
        return
    leg = event.leg

    def checked(reply: Reply) -> None:
        if reply.status == NO_RTP and live_call.call.leg(leg) is not None:
            log.warning("leg without media", node=context.node, channel=leg)
            context.hang_up_channel(leg, causes.BEARER_UNAVAILABLE)

    context.pbx.send(channels.rtpstatistics(leg), live_call.call.id, False, checked)
