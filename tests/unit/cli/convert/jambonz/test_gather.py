"""jambonz' `gather` with digits and speech."""

from typing import Any

import pytest

from tests.unit.cli.convert.jambonz.conversion import HELLO, NEXT, SAY, converted, lost, run

DIGITS: dict[str, Any] = {"timeout": 15_000, "digitTimeout": 15_000, "terminator": ""}
SPEECH: dict[str, Any] = {"timeout": 15_000, "input": ["speech"]}


def gather(**fields: Any) -> dict[str, Any]:
    return {"verb": "gather", "actionHook": NEXT, **fields}


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({}, DIGITS),
        (
            {"numDigits": 4, "timeout": 5, "interDigitTimeout": 2, "finishOnKey": "#"},
            {"timeout": 5_000, "digitTimeout": 2_000, "terminator": "#", "maxDigits": 4},
        ),
        ({"say": {"text": "Digits?"}}, {**DIGITS, "text": "Digits?"}),
        ({"play": {"url": NEXT}}, {**DIGITS, "audioUrl": NEXT}),
        (
            {"input": ["speech"], "bargein": True, "recognizer": {"hints": ["sales", "my bill"]}},
            {**SPEECH, "hints": ["sales", "my bill"]},
        ),
        (
            {"input": ["speech"], "recognizer": {"vendor": "google", "language": "en-GB"}},
            {**SPEECH, "recognizer": "whisper", "language": "en-GB", "bargeIn": "off"},
        ),
        (
            {
                "input": ["digits", "speech"],
                "bargein": True,
                "maxDigits": 1,
                "recognizer": {
                    "vendor": "deepgram",
                    "language": "default",
                    "hints": [{"phrase": "sales", "boost": 2}],
                    "asrTimeout": 1.5,
                },
            },
            {
                **DIGITS,
                "maxDigits": 1,
                "input": ["speech", "digits"],
                "recognizer": "deepgram",
                "hints": ["sales"],
                "endpointing": {"silenceMs": 1_500},
            },
        ),
    ],
)
def test_what_is_collected(fields: dict[str, Any], data: dict[str, Any]) -> None:
    """Seconds become milliseconds; without a key that ends it, none does."""
    assert converted(gather(**fields)) == {"type": "gather", "data": data, "action": NEXT}


def test_without_a_hook_the_next_verb_follows() -> None:
    """Whatever was pressed."""
    assert converted({"verb": "gather"}, HELLO)["action"] == SAY


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"timeout": 0}, "timeout 0, none, becomes 600 s"),
        ({"input": ["speech"], "recognizer": {"hints": ["a"]}}, "nothing else is understood"),
        ({"input": ["speech"]}, "the recognizer becomes whisper"),
        ({"input": ["speech"], "recognizer": {"vendor": "aws"}}, "vendor aws is left out"),
        ({"input": ["speech"], "recognizer": {"vendor": "deepgram"}}, "goes there"),
        ({"input": ["speech"], "recognizer": {"hintsBoost": 9}}, "belongs to a vendor"),
        ({"input": ["speech"], "recognizer": {"deepgramOptions": {}}}, "belongs to a vendor"),
        ({"input": ["speech"], "minBargeinWordCount": 2}, "one word ends the prompt"),
        ({"input": ["speech"], "numDigits": 2}, "numDigits is left out: it belongs to digits"),
        ({"bargein": True}, "bargein is left out: it belongs to speech"),
    ],
)
def test_a_difference_is_noted(fields: dict[str, Any], text: str) -> None:
    """And is no loss."""
    found = run([gather(**fields)])
    assert found.is_complete
    assert any(text in each.text for each in found.remarks), found.remarks


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"input": ["voice"]}, "digits, speech or both"),
        ({"input": "speech", "listenDuringPrompt": True}, "is not heard"),
        ({"minDigits": 2}, "minDigits is not converted"),
        ({"dtmfBargein": False}, "a key always ends the prompt"),
        ({"partialResultHook": NEXT}, "the webhook gets the speech when it has ended"),
        ({"input": ["speech"], "recognizer": {"language": "nb-NO"}}, "understand English"),
        ({"input": ["speech"], "recognizer": {"altLanguages": ["a"]}}, "one language"),
        ({"input": ["speech"], "recognizer": {"profanityFilter": True}}, "no word is masked"),
        ({"input": ["speech"], "recognizer": {"hints": [1]}}, "only texts and phrases"),
        ({"input": ["speech"], "recognizer": {"asrTimeout": "a"}}, "a number is expected"),
        ({"say": {"text": "a", "stream": True}}, "gather.say stream is not converted"),
        ({"finishOnKey": "##"}, "engines reject the tree: data.terminator"),
    ],
)
def test_a_loss_is_named(fields: dict[str, Any], text: str) -> None:
    """With what to use instead."""
    found = lost(gather(**fields))
    assert any(text in each for each in found), found


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({"say": {"text": "<speak>A</speak>"}}, ["say", "gather"]),
        ({"say": {"text": "A", "loop": 3}}, ["say", "say", "gather"]),
        ({"play": {"url": NEXT, "loop": 3}}, ["play", "gather"]),
        ({"play": {"url": [NEXT, NEXT]}}, ["play", "gather"]),
        (
            {"input": ["speech"], "say": {"text": "A", "synthesizer": {"language": "nb"}}},
            ["say", "gather"],
        ),
    ],
)
def test_what_is_no_prompt_of_a_gather_comes_before(
    fields: dict[str, Any], kinds: list[str]
) -> None:
    """SSML, repetitions, several files, and another language than the caller's."""
    tree, found = converted(gather(**fields)), []
    while isinstance(tree, dict):
        found.append(tree["type"])
        tree = tree.get("action")
    assert found == kinds
