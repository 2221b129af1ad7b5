"""A Gather with speech becomes one that understands speech; what differs is named."""

import json
from typing import Any

import pytest

from cli.convert.twiml.convert import convert
from wire.tree import Limits, parse_action

NEXT = "https://example.com/next"


def converted(attributes: str, prompts: str = "") -> tuple[Any, list[str], list[str]]:
    """Return the tree, which engines accept, the losses and the differences."""
    verbs = f'<Gather action="{NEXT}" {attributes}>{prompts}</Gather>'
    found = convert(f"<Response>{verbs}</Response>".encode())
    parse_action(json.dumps(found.action).encode(), Limits())
    lost, noted = (
        [each.text for each in found.remarks if each.is_lost is is_lost]
        for is_lost in (True, False)
    )
    return found.action, lost, noted


@pytest.mark.parametrize(
    ("attributes", "data"),
    [
        (
            'input="speech" hints="sales, my bill"',
            {"input": ["speech"], "hints": ["sales", "my bill"]},
        ),
        (
            'input="dtmf speech" numDigits="1" hints="sales"',
            {
                "input": ["speech", "digits"],
                "hints": ["sales"],
                "maxDigits": 1,
                "digitTimeout": 5_000,
            },
        ),
        ('input="speech"', {"input": ["speech"], "recognizer": "whisper"}),
        (
            'input="speech" hints="$OOV_CLASS_DIGIT_SEQUENCE,,a,a" speechTimeout="2"',
            {
                "input": ["speech"],
                "hints": ["$digits", "a"],
                "endpointing": {"silenceMs": 2_000},
            },
        ),
        (
            'input="speech" hints="a" language="en-GB" bargeIn="false"',
            {"input": ["speech"], "hints": ["a"], "language": "en-GB", "bargeIn": "off"},
        ),
        (
            'input="speech" hints="a" bargeIn="true" profanityFilter="false"',
            {"input": ["speech"], "hints": ["a"]},
        ),
    ],
)
def test_speech_is_collected(attributes: str, data: dict[str, object]) -> None:
    """With digits or alone; nothing of it is lost."""
    tree, lost, _ = converted(attributes)
    rest = {"timeout": 5_000, "fallback": {"type": "hangup", "data": {}}}
    assert (tree["data"], lost) == ({**rest, **data}, [])


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ('hints="a"', "nothing else is understood"),
        ("", "the recognizer becomes whisper"),
        ('speechTimeout="auto"', "speechTimeout auto: 0.7 s of silence"),
        ("", "has no speechTimeout: 0.7 s of silence"),
        ('speechTimeout="60"', "speechTimeout 60 becomes 10"),
        ('speechModel="phone_call"', "speechModel is left out"),
        ('enhanced="true"', "enhanced is left out"),
        ('numDigits="1"', "numDigits is left out: it belongs to digits"),
    ],
)
def test_a_difference_is_noted(attributes: str, text: str) -> None:
    """And is no loss."""
    _, lost, noted = converted(f'input="speech" {attributes}')
    assert lost == []
    assert any(text in each for each in noted), noted


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ('hints="sales,$ADDRESSNUM"', "hints: $ADDRESSNUM is left out"),
        ('speechTimeout="soon"', "speechTimeout: a number is expected"),
        ('language="nb-NO"', "language nb-NO: grammar and whisper understand English"),
        ('language="!"', "language: a tag such as en"),
        ('profanityFilter="true"', "no word is masked"),
        ('partialResultCallback="/p"', "partialResultCallback is not converted"),
        ('bargeIn="no"', "bargeIn: true or false"),
        ('debug="true"', "debug is not converted"),
    ],
)
def test_a_loss_is_named(attributes: str, text: str) -> None:
    """With what to use instead."""
    _, lost, _ = converted(f'input="speech" {attributes}')
    assert any(text in each for each in lost), lost


def test_a_key_ends_a_prompt_without_barge_in() -> None:
    """Only speech does not; of digits alone that is a loss."""
    _, lost, noted = converted('input="dtmf speech" hints="a" bargeIn="false"')
    assert lost == []
    assert any("a key ends the prompt all the same" in each for each in noted)


@pytest.mark.parametrize("attributes", ['hints="a"', 'language="nb-NO"', 'speechTimeout="auto"'])
def test_without_speech_its_attributes_have_no_effect(attributes: str) -> None:
    """They are left out, which is no loss."""
    tree, lost, noted = converted(attributes)
    assert (lost, "input" in tree["data"]) == ([], False)
    assert any("it belongs to speech as input" in each for each in noted)


@pytest.mark.parametrize(
    ("prompt", "language", "kinds"),
    [
        ('<Say language="nb-NO">Hei.</Say>', "", ["say", "gather"]),
        ('<Say language="nb-NO">Hei.</Say>', "en-US", ["say", "gather"]),
        ("<Say>Hello.</Say>", "nb-NO", ["say", "gather"]),
        ('<Say language="en-GB">Hello.</Say>', "en-US", ["gather"]),
        (f"<Play>{NEXT}</Play>", "en-US", ["gather"]),
    ],
)
def test_a_prompt_in_another_language_comes_before(
    prompt: str, language: str, kinds: list[str]
) -> None:
    """A gather has one language, which is that of the speech."""
    written = f'language="{language}"' if language else ""
    tree, _, noted = converted(f'input="speech" hints="a" {written}', prompt)
    found = []
    while isinstance(tree, dict):
        found.append(tree["type"])
        last, tree = tree, tree.get("action")
    assert found == kinds
    assert last["data"].get("language", "") == language
    assert any("heard before the gather" in each for each in noted) is (len(kinds) > 1)
