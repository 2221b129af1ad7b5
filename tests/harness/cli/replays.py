"""Results of replays: the same, the same with a gap, and different."""

from wire.views import Replay, ReplayDifference

SAME = Replay("3-pbx1-same", is_same=True, lines=12, compared=11, events=7)
HOLE = Replay("3-pbx1-hole", is_same=True, lines=12, compared=4, events=7, gap=5)
DIFFERENT = Replay(
    "3-pbx1-other",
    is_same=False,
    lines=12,
    compared=11,
    events=7,
    trimmed=2,
    differences=(
        ReplayDifference(
            "commands", "the commands differ", 4, 1_700_000_000_123,
            {"type": "digit-pressed", "leg": "a", "digit": "4"},
            (
                {"type": "emit-event", "event": {"event": "gathered"}},
                {"type": "stop-hold-music", "leg": "a"},
            ),
        ),
        ReplayDifference("state", "the result differs from the stored call: cause"),
    ),
)  # fmt: skip
