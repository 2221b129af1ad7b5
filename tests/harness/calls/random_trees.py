"""Random action trees."""

from typing import Any

from hypothesis import strategies as some

from tests.harness.calls.builders import HTTPS, say
from tests.harness.calls.screenings import BOB, EVE

LEAVES = some.sampled_from(
    [
        HTTPS,
        None,
        {"type": "hangup"},
        {"type": "flow", "data": {"flowId": "f"}},
        {"type": "redirect", "data": {"url": HTTPS}},
        {"type": "redirect", "data": {"url": HTTPS, "fallback": say("no reply")}},
        {"type": "dial", "data": {"flowId": "f"}},
        {"type": "play", "data": {"audioUrl": [HTTPS, HTTPS], "loop": 12}},
    ]
)
SCREENINGS = some.fixed_dictionaries(
    {},
    optional={
        "whisper": some.sampled_from([say("for sales"), {"type": "gather", "action": say()}]),
        "confirm": some.sampled_from([{}, {"digit": "2", "audioUrl": HTTPS}]),
        "machineDetection": some.sampled_from([True, {"onMachine": "hangup"}]),
    },
)


def _around(inner: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    verbs = some.sampled_from([None, {"type": "hangup"}, say("fallback"), {"type": "gather"}])
    timeouts = some.sampled_from([None, 0.001, 1, 600])
    return some.one_of(
        some.builds(
            lambda after, timeout, on_error: say(action=after, timeout=timeout, onError=on_error),
            inner,
            timeouts,
            some.sampled_from([None, say("sorry"), HTTPS]),
        ),
        some.builds(
            lambda after, fallback, prompt, digits: {
                "type": "gather",
                "action": after,
                "data": {"fallback": fallback, "audioUrl": prompt, "maxDigits": digits},
            },
            inner,
            verbs,
            some.sampled_from([None, HTTPS]),
            some.integers(1, 3),
        ),
        some.builds(
            lambda after, numbers, timeout, music, screening: {
                "type": "dial",
                "action": after,
                "timeout": timeout,
                "data": {
                    "number": numbers,
                    "timeLimit": timeout,
                    "moh": {"enable": music},
                    "earlyMedia": not music,
                    **screening,
                },
            },
            inner,
            some.lists(some.sampled_from([BOB, EVE]), min_size=1, max_size=3),
            timeouts,
            some.booleans(),
            SCREENINGS,
        ),
        some.builds(
            lambda after, length: {"type": "pause", "data": {"length": length}, "action": after},
            inner,
            some.sampled_from([0.001, 1, 600]),
        ),
        some.builds(
            lambda after, loop: {
                "type": "play",
                "data": {"audioUrl": HTTPS, "loop": loop},
                "action": after,
            },
            inner,
            some.sampled_from([1, 3, 100]),
        ),
        some.builds(
            lambda after, prompt, beep: {
                "type": "record",
                "data": {"audioUrl": prompt, "beep": beep, "maxLength": 5},
                "action": after,
            },
            inner,
            some.sampled_from([None, HTTPS]),
            some.booleans(),
        ),
        some.builds(
            lambda after, on_lost, limit: {
                "type": "stream",
                "data": {"url": "wss://example.com/", "onLost": on_lost, "maxDuration": limit},
                "action": after,
            },
            inner,
            some.sampled_from(["retry", "continue", "hangup"]),
            some.sampled_from([None, 0.001, 600]),
        ),
        some.builds(
            lambda after, on_lost, track: {
                "type": "stream",
                "data": {
                    "url": "wss://example.com/",
                    "onLost": on_lost,
                    "track": track,
                    "fork": True,
                },
                "action": after,
            },
            inner,
            some.sampled_from(["retry", "continue", "hangup"]),
            some.sampled_from(["both", "caller", "bot"]),
        ),
        some.builds(
            lambda after: {"type": "flow", "data": {"flowId": "f"}, "action": after}, inner
        ),
    )


TREES = some.recursive(LEAVES, _around, max_leaves=6)
