"""The scripts of the planted faults: each situation in which a fault must show."""

from collections.abc import Callable

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    ControlRequest,
    HoldRequested,
    MuteRequested,
    RecordingAction,
    RecordingRequested,
)
from tests.harness.sim.streams.bots import FloodingBot
from tests.harness.sim.streams.callers import Utterance
from tests.sim.planted.script import Script, Step
from wire import verbs

MAIN, CALLEE, MEMBER = 0, 1, 2  # legs, in the order of their creation


def press(digits: str) -> Step:
    return lambda world: world.press(digits)


def hold_key(digit: str, held_ms: float) -> Step:
    return lambda world: world.hold_key(digit, held_ms)


def hang_up(leg: int) -> Step:
    return lambda world: world.hang_up(leg)


def request(make: Callable[[Call], ControlRequest]) -> Step:
    return lambda world: world.request(make)


def hold(leg: int, *, held: bool) -> Step:
    return request(lambda call: HoldRequested(call.legs[leg].id, held))


def mute(leg: int, *, is_muted: bool) -> Step:
    return request(lambda call: MuteRequested(call.legs[leg].id, "both" if is_muted else ""))


def say(text: str, length_ms: float) -> Step:
    """Let the caller speak; its recognizer understands the text."""
    utterance = Utterance(length_ms, text=text, confidence=0.9)
    return lambda world: world.utter(utterance)


def cough(length_ms: float) -> Step:
    return lambda world: world.utter(Utterance(length_ms, is_voice=False))


def crash_at(boundary: str) -> Step:
    return lambda world: world.crash_at(boundary)


def record(wanted: RecordingAction) -> Step:
    return request(lambda _call: RecordingRequested(wanted))


def coach(*, is_coaching: bool) -> Step:
    """Let the added member coach the caller, or speak to all again."""
    return request(
        lambda call: CoachRequested(
            call.conferences[0].id, call.legs[MEMBER].id, call.main if is_coaching else ""
        )
    )


def lose_websocket(for_ms: int) -> Step:
    return lambda world: world.lose_websocket(for_ms)


def kill_engine(for_ms: int) -> Step:
    return lambda world: world.kill_engine(for_ms)


def _audio(length_ms: int) -> str:
    return f"https://audio/{length_ms}/5/ok"


def _dial(after: verbs.Action | None = None) -> verbs.Dial:
    data = verbs.DialData(number="+47123456", moh=verbs.MusicOnHold(enable=True))
    return verbs.Dial(data, after, timeout=20)


def _menu(after: verbs.Action) -> verbs.Play:
    gather = verbs.GatherData(audio_url=_audio(500), max_digits=2, timeout=4_000)
    return verbs.Play(verbs.PlayData(_audio(1_000)), verbs.Gather(gather, after))


add_member = request(lambda _call: AddMemberRequested("+47123457", by="1001", ring_s=20.0))

# A prompt, two digits, a dial with music on hold, a hold and a mute.
DIAL = Script(
    _menu(_dial()),
    (
        (3_000, press("12")),
        (10_000, hold(CALLEE, held=True)),
        (13_000, hold(CALLEE, held=False)),
        (16_000, mute(CALLEE, is_muted=True)),
        (18_000, mute(CALLEE, is_muted=False)),
        (22_000, hang_up(CALLEE)),
        (28_000, hang_up(MAIN)),  # if the engine has not done so
    ),
)

# No key is pressed, so the gather ends by its timeout.
TIMEOUT = Script(_menu(verbs.Hangup()), ((28_000, hang_up(MAIN)),))

# The engine dies before it commits a request for one more leg.
CRASH = Script(
    _dial(),
    (
        (7_000, crash_at("commit")),
        (7_001, add_member),
        (15_000, hang_up(MAIN)),
    ),
    kinds=frozenset({"crash"}),
)

# A member joins the conversation, coaches the caller, and speaks to all again.
CONFERENCE = Script(
    _dial(),
    (
        (7_000, add_member),
        (14_000, coach(is_coaching=True)),
        (18_000, coach(is_coaching=False)),
        (24_000, hang_up(MEMBER)),
        (26_000, hang_up(CALLEE)),
    ),
)

# A recorded conversation with a pause, and a second part after a stop.
RECORDING = Script(
    _dial(),
    (
        (8_000, record("pause")),
        (11_000, record("resume")),
        (14_000, record("stop")),
        (17_000, record("start")),
        (21_000, hang_up(CALLEE)),
    ),
    is_recorded=True,
)

# An action that a customer's server answers.
WEBHOOK = Script("https://hooks/1", ())

# The caller hangs up in a gather, whose webhook is still to be sent when the engine dies.
CRASH_AT_END = Script(
    verbs.Gather(verbs.GatherData(max_digits=8, timeout=60_000), "https://hooks/1"),
    ((5_000, crash_at("committed")), (5_001, hang_up(MAIN))),
    kinds=frozenset({"crash"}),
)

# Digits before, during and after the loss of the websocket.
OUTAGE = Script(
    verbs.Gather(verbs.GatherData(max_digits=8, timeout=5_000, digit_timeout=5_000)),
    (
        (2_000, press("1")),
        (3_000, lose_websocket(2_000)),
        (3_500, press("23")),
        (6_000, press("4#")),
    ),
    kinds=frozenset({"socket"}),
)

# Digits at the edges of two menus: typed ahead, held over a timeout, and a spare terminator.
MENUS = Script(
    verbs.Play(
        verbs.PlayData(_audio(1_000)),
        verbs.Gather(
            verbs.GatherData(max_digits=2, digit_timeout=1_000),
            verbs.Gather(verbs.GatherData(max_digits=4)),
        ),
    ),
    (
        (600, press("1")),
        (1_900, hold_key("2", 900)),
        (3_100, press("#")),
        (4_000, press("34#")),
    ),
)

# The engine dies while the caller speaks; the transcript comes while there is none.
SPEECH_OUTAGE = Script(
    verbs.Gather(verbs.GatherData(input=("speech",), hints=("sales",)), verbs.Hangup()),
    (
        (1_000, say("sales", 1_500)),
        (1_800, kill_engine(2_000)),
        (28_000, hang_up(MAIN)),
    ),
    kinds=frozenset({"crash"}),
)

# The caller's phone holds while there is no engine.
HOLD_OUTAGE = Script(
    _dial(),
    (
        (7_000, kill_engine(2_000)),
        (8_000, lambda world: world.hold_phone()),
        (28_000, hang_up(MAIN)),
    ),
    kinds=frozenset({"crash"}),
)

# A cough in the prompt, an utterance that ends it, and a second one in a gather without a prompt.
SPEECH = Script(
    verbs.Gather(
        verbs.GatherData(
            audio_url=_audio(4_000),
            timeout=2_000,
            input=("speech", "digits"),
            hints=("sales", "support"),
        ),
        verbs.Gather(verbs.GatherData(timeout=2_000, input=("speech",)), verbs.Hangup()),
    ),
    (
        (1_500, cough(150)),
        (2_500, say("sales", 900)),
        (5_500, say("yes", 3_000)),
        (28_000, hang_up(MAIN)),
    ),
)

# A bot sends marks as fast as it may, beside other calls, until its call's log is full.
FLOOD = Script(
    verbs.Stream(verbs.StreamData("wss://bots/1")),
    ((30_000, hang_up(MAIN)),),  # if the engine has not done so
    bots=FloodingBot,
    max_log_lines=500,
    others=8,
    action_of_others=_menu(_dial()),
)

# The phone of a recorded caller holds and resumes without end, beside other calls.
HOLDS = Script(
    _dial(),
    ((6_000, lambda world: world.hold_again(40)), (30_000, hang_up(MAIN))),
    is_recorded=True,
    max_log_lines=500,
    others=8,
    action_of_others=_menu(_dial()),
)
