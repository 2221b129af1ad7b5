"""Which ends of a stream are losses, and how often another one is tried."""

from engine.calls.model.streams import Stream
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason

REPORT_GRACE_MS = 50  # for the gateway's report, if a channel ends before it
RETRY_DELAYS_MS = (0, 250, 1_000, 2_000, 4_000)  # then the verb ends
GATEWAY_WAIT_MS = 30_000  # each of these tries waits so long for a gateway: one may restart
LASTED_MS = 10_000  # a stream that was connected for so long is no failure of the one before
# The bot has not caused these: another gateway, or the same one, connects it again.
GATEWAY_LOSSES = frozenset({"gateway-lost", "no-gateway", "pbx-lost", "pbx-unreachable", "drained"})
# No losses: the bot, a request or the verb has ended the stream.
ENDS = frozenset({"bot-closed", "stopped", "max-duration"})
# Another try would have the same result. Messages that are invalid or too large are a fault of the
# bot's program, not of its process or network: callers would hear music for seven seconds, and the
# action would learn what was wrong only then.
FINAL_LOSSES = frozenset({"address-refused", "bot-refused", "invalid-message", "too-large"})


def is_retried(
    data: StreamData, reason: StreamEndReason, failures: int, *, is_recognizer: bool = False
) -> bool:
    """Return whether another stream is tried: `onLost` is about the bot, not about gateways.

    `failures`: of streams in a row before this one. The first try waits for no gateway, as the
    caller hears no music meanwhile; a later one has waited long enough. A recognizer never waits.
    """
    if reason in ENDS or reason in FINAL_LOSSES or failures >= len(RETRY_DELAYS_MS):
        return False
    if reason == "no-gateway" and failures and not is_recognizer:
        return False
    return reason in GATEWAY_LOSSES or data.on_lost == "retry"


def is_bot_lost(reason: StreamEndReason) -> bool:
    """Return whether a stream has ended because there is no bot."""
    return reason not in ENDS


def tries_failed(stream: Stream, failures: int, now: int) -> int:
    """Return how many streams in a row have failed before this one."""
    has_lasted = stream.connected_ms and now - stream.connected_ms >= LASTED_MS
    return 0 if has_lasted else failures
