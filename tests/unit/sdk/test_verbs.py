"""Trees that the Python SDK builds: their JSON, and values that are rejected."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switchroom_sdk import (
    Confirm,
    InvalidField,
    MachineDetection,
    RelativeAddress,
    Verb,
    dial,
    flow,
    gather,
    hangup,
    pause,
    play,
    record,
    say,
)

from wire.tree import parse_action

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
BASE = "https://example.com"


def example(name: str) -> Any:
    """Return the action of an example, as the engine reads it."""
    return read(json.loads((EXAMPLES / name).read_text())["action"])


def read(action: object) -> Any:
    """Return an action as the engine reads it: values that are defaults may be absent."""
    return parse_action(json.dumps(action).encode())


def test_an_ivr_is_that_of_the_examples() -> None:
    """A chain of say and gather has the JSON of docs/examples/ivr.json."""
    menu = say("Press one for sales.").gather(
        max_digits=1, timeout_ms=5000, digit_timeout_ms=2000, action="/menu"
    )
    assert read(menu.to_dict(BASE)) == example("ivr.json")


def test_a_hunt_is_that_of_the_examples() -> None:
    """Several numbers, music and what follows have the JSON of docs/examples/hunt.json."""
    hunt = (
        say("One moment, please.")
        .dial(["+4733333331", "+4733333332"], moh=True, timeout_s=20)
        .say("Thank you for calling. Goodbye.")
        .hangup()
    )
    assert read(hunt.to_dict()) == example("hunt.json")


def test_a_screened_dial_is_that_of_the_examples() -> None:
    """Whisper and key have the JSON of docs/examples/screened.json."""
    screened = dial(
        ["+4733333331", "+4733333332"],
        whisper=say("A customer who has been called back."),
        confirm=Confirm(text="Press one to take the call."),
        timeout_s=20,
    )
    assert read(screened.to_dict()) == example("screened.json")


def test_each_field_of_a_verb_reaches_the_engine() -> None:
    """The engine's parser reads what the functions were given."""
    chain = (
        play(["https://example.com/a.wav", "/b.wav"], loop=2, timeout_s=9.5, on_error=say("Sorry."))
        .say("नमस्ते", voice="v1", language="hi-IN", ssml=True, timeout_s=3)
        .record("Speak.", beep=False, max_length_s=60, silence_s=0, terminator="*")
        .pause(0.5)
        .dial(
            "agent:1001",
            reference_id="order-4711",
            caller_id="+4721930000",
            time_limit_s=60,
            machine_detection=MachineDetection(on_machine="hangup"),
            early_media=True,
            timeout_s=20,
        )
        .flow("support", agent_id="sales7")
        .gather(
            "Your PIN, please.",
            max_digits=4,
            timeout_ms=9000,
            digit_timeout_ms=500,
            terminator="",
            type_ahead=False,
            sensitive=True,
            fallback=hangup(reason="busy"),
            action="/pin",
        )
    )
    assert parse_action(chain.to_json(BASE)) == read(chain.to_dict(BASE))
    last: Any = parse_action(chain.to_json(BASE))
    tags = []
    while not isinstance(last, str):
        tags.append(last.__struct_config__.tag)
        last = last.action
    assert tags == ["play", "say", "record", "pause", "dial", "flow", "gather"]
    assert last == "https://example.com/pin"


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: gather(max_digits=0), "data.maxDigits"),
        (lambda: gather(timeout_ms=700_000), "data.timeout"),
        (lambda: say(""), "data.text"),
        (lambda: pause(0), "data.length"),
        (lambda: dial("nobody"), "data.number"),
        (lambda: record(terminator="##"), "data.terminator"),
        (lambda: flow("a flow"), "data.flowId"),
        (lambda: play([]), "data.audioUrl"),
        (lambda: say("Hello.", action="menu"), "action"),
        (lambda: say("Hello.").then(say("Bye.", action="menu")), "action"),
    ],
)
def test_a_value_beyond_its_limits_is_rejected_at_once(build: Any, field: str) -> None:
    """The error names the field as the JSON has it."""
    with pytest.raises(InvalidField) as error:
        build()
    assert error.value.field == field
    assert str(error.value).startswith(f"{field}: expected")


@pytest.mark.parametrize("text", ["\ud800", object(), (each for each in "x")])
def test_what_json_cannot_have_is_rejected(text: Any) -> None:
    """Half a character, and an object of Python, are errors of the SDK's own type."""
    with pytest.raises(InvalidField, match="cannot be written as JSON"):
        say(text)


def test_nothing_follows_a_webhook() -> None:
    """A chain that ends with an address says so when it is continued."""
    with pytest.raises(InvalidField, match="ends with the webhook /menu"):
        gather(action="/menu").then(hangup())


def test_an_address_at_your_own_server_needs_a_base() -> None:
    """Without a base the error says what to set."""
    with pytest.raises(RelativeAddress, match="SWITCHROOM_PUBLIC_URL"):
        gather(action="/menu").to_json()


def test_addresses_in_branches_are_resolved() -> None:
    """Fallback, on_error and audio are at your own server, too, below the path of the base."""
    found = play("/a.wav", on_error="/error").gather(
        audio_url="/b.wav", fallback=play(["/c.wav"]), action="/menu"
    )
    text = found.to_json("https://example.com/app/").decode()
    for path in ("a.wav", "error", "b.wav", "c.wav", "menu"):
        assert f"https://example.com/app/{path}" in text


@pytest.mark.parametrize(
    "address",
    ["/agent:1001", "/menu:start?x=1", "/tel:+4790000001/next", "/a//b", "/a/../b", "/a?next=/b#c"],
)
@pytest.mark.parametrize("base", [BASE, f"{BASE}/app"])
def test_an_address_follows_its_base_as_it_is(address: str, base: str) -> None:
    """A colon in it begins no scheme, and no part of it is dropped."""
    assert gather(action=address).to_dict(base)["action"] == base + address


def test_an_address_cannot_leave_its_base() -> None:
    """Two slashes begin no host."""
    assert gather(action="//evil.example/x").to_dict(BASE)["action"] == f"{BASE}//evil.example/x"


def test_a_chain_is_a_value() -> None:
    """`then` changes nothing in place, so a part can be used twice."""
    first = say("Hello.")
    assert first.then(hangup()) != first
    assert first.action is None


TEXTS = st.text(min_size=1, max_size=20)
LEAVES: st.SearchStrategy[Verb] = st.one_of(
    TEXTS.map(say),
    st.floats(0.001, 86_400).map(pause),
    st.sampled_from(["rejected", "busy"]).map(lambda reason: hangup(reason=reason)),  # type: ignore[arg-type]
    st.integers(1, 64).map(lambda digits: gather(max_digits=digits, action="/digits")),
)


@given(st.lists(LEAVES, min_size=1, max_size=6))
def test_what_the_sdk_builds_the_engine_accepts(parts: list[Verb]) -> None:
    """Chains of random verbs are parsed by the engine."""
    chain, *rest = [each for each in parts if not each.action] or [hangup()]
    for each in rest:
        chain = chain.then(each)
    parse_action(chain.to_json(BASE))
