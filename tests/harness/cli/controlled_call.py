"""A controlled call as an engine shows it."""

from wire.control import ConferenceView, MemberView, TransferView
from wire.views import CallStreams, CallView, LegView, RecordingView, StreamView

ID = "3-pbx1-abcdefgh"
MAIN, ADA, PHONE = "pbx1-17.0", f"{ID}.l0", f"{ID}.l12"
CONFERENCE, FIRST, SECOND = f"{ID}.f2", f"{ID}.t1", f"{ID}.t3"


def transfer(session: str, state: str) -> TransferView:
    """Show a transfer of the customer."""
    return TransferView(session, ID, "attended", state, "agent:1002", ADA, MAIN, f"{ID}.l4")


CALL = CallView(
    call_id=ID,
    account="acme",
    node="pbx1",
    slot=3,
    direction="inbound",
    from_="+15550077",
    to="+15550100",
    status="in-progress",
    state="bridged",
    verb="dial",
    created_ms=1,
    main_channel_id=MAIN,
    legs=(
        LegView(MAIN, "+15550077", "up", held=True),
        LegView(ADA, "agent:1001", "up", agent_id="ada", muted="in", answered_by="human"),
        LegView(PHONE, "sip:desk@10.0.0.1:5062", "ringing"),
    ),
    transfers=(transfer(FIRST, "canceled"), transfer(SECOND, "ringback")),
    conferences=(
        ConferenceView(
            CONFERENCE,
            ID,
            "in-progress",
            (
                MemberView(MAIN, "+15550077", "connected", held=True),
                MemberView(ADA, "agent:1001", "connected", "ada", "[Ada]", coaches=MAIN),
                MemberView(PHONE, "sip:desk@10.0.0.1:5062", "complete", reason="kicked"),
            ),
        ),
    ),
    recordings=(RecordingView("https://archive.example/x.wav", "call", "archived", 6300),),
)
BOT, FORK = f"{ID}.w5", f"{ID}.w7"
STREAMS = CallStreams(
    ID,
    (
        StreamView(
            BOT, "wss://bot.example/talk", "twilio", "connected", False, "both", 1, 20, 6_300, "m1"
        ),
        StreamView(FORK, "wss://ear.example:8443/", "native", "starting", True, "caller", 2),
    ),
)
