"""Which ends of a stream are losses, and how often another one is tried."""

from engine.calls.model.streams import Stream
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason

REPORT_GRACE_MS = 50  # for the gateway's report, if a channel ends before it
RETRY_DELAYS_MS = (0, 250, 1_000, 2_000, 4_000)  # then the verb ends
LASTED_MS = 10_000  # a stream that was connected for so long is no failure of the one before
# The bot has not caused these: another gateway, or the same one, connects it again.
GATEWAY_LOSSES = frozenset({"gateway-lost", "no-gateway", "pbx-lost", "pbx-unreachable", "drained"})
# Another try would have the same result.
FINAL_REASONS = frozenset({"bot-closed", "stopped", "address-refused", "max-duration"})


def is_retried(data: StreamData, reason: StreamEndReason) -> bool:
    """Return whether another stream is tried: `onLost` is about the bot, not about gateways."""
    return reason not in FINAL_REASONS and (reason in GATEWAY_LOSSES or data.on_lost == "retry")


def is_bot_lost(reason: StreamEndReason) -> bool:
    """Return whether a stream has ended because there is no bot."""
    return reason not in FINAL_REASONS or reason == "address-refused"


def tries_failed(stream: Stream, failures: int, now: int) -> int:
    """Return how many streams in a row have failed before this one."""
    has_lasted = stream.connected_ms and now - stream.connected_ms >= LASTED_MS
    return 0 if has_lasted else failures
