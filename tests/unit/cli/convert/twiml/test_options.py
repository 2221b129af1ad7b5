"""`--base-url` and `--region` complete what a TwiML document leaves to Twilio."""

from typing import Any

import pytest

from cli.convert.context import Context, InvalidContext, context
from cli.convert.result import Converted
from cli.convert.twiml.convert import convert

OWN = "https://example.com/ivr/start?lang=no"
AT_HOME = Context(base_url=OWN)
IN_US = Context(region="US")


def converted(verbs: str, given: Context) -> Converted:
    return convert(f"<Response>{verbs}</Response>".encode(), given)


def tree(verbs: str, given: Context) -> Any:
    found = converted(verbs, given)
    assert found.is_complete, found.remarks
    return found.action


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("/menu", "https://example.com/menu"),
        ("menu?attempt=1&amp;a=b+c", "https://example.com/ivr/menu?attempt=1&a=b+c"),
        ("?attempt=2", "https://example.com/ivr/start?attempt=2"),
        ("../menu", "https://example.com/menu"),
        ("//other.example.com/menu", "https://other.example.com/menu"),
        ("https://other.example.com/menu", "https://other.example.com/menu"),
    ],
)
def test_a_relative_address_is_resolved(written: str, address: str) -> None:
    """Against the address of the document: of `action`, of a redirect, and of audio."""
    assert tree(f'<Gather action="{written}"/>', AT_HOME)["action"] == address
    assert tree(f'<Dial action="{written}">+4722222222</Dial>', AT_HOME)["action"] == address
    assert tree(f"<Redirect>{written}</Redirect>", AT_HOME)["data"]["url"] == address
    assert tree(f"<Play>{written}</Play>", AT_HOME)["data"]["audioUrl"] == address


@pytest.mark.parametrize("verb", ["Gather", "Record"])
def test_without_action_the_document_is_requested(verb: str) -> None:
    """As by Twilio, by a gather and a record; a loss without the address of the document."""
    assert tree(f"<{verb}/>", AT_HOME)["action"] == OWN
    assert tree(f'<{verb} action=""/>', AT_HOME)["action"] == OWN
    (lost,) = [each for each in converted(f"<{verb}/>", Context()).remarks if each.is_lost]
    assert "--base-url" in lost.text


def test_a_dial_without_action_goes_on() -> None:
    """With the next verb, also if the address of the document is known."""
    found = tree("<Dial>+4722222222</Dial><Say>Bye.</Say>", AT_HOME)
    assert found["action"] == {"type": "say", "data": {"text": "Bye."}}


@pytest.mark.parametrize(
    "verbs", ['<Gather action="/menu"/>', "<Redirect>/menu</Redirect>", "<Play>menu.mp3</Play>"]
)
def test_a_relative_address_alone_is_reported(verbs: str) -> None:
    """With the option that completes it."""
    lost = [each.text for each in converted(verbs, Context()).remarks if each.is_lost]
    assert any("menu" in text and "--base-url" in text for text in lost), lost


@pytest.mark.parametrize("address", ["https://[", "ftp://example.com/a", "/a b"])
def test_an_address_that_cannot_be_resolved_is_reported(address: str) -> None:
    """It is no reason to fail."""
    found = converted(f'<Gather action="{address}"/>', AT_HOME)
    assert any("action: an absolute https:// address" in each.text for each in found.remarks)


@pytest.mark.parametrize("number", ["415-123-4567", "(415) 123 4567", "1 415 123 4567"])
def test_a_number_gets_its_country(number: str) -> None:
    """With a region; what it becomes is noted."""
    for verbs in (f"<Dial>{number}</Dial>", f"<Dial><Number>{number}</Number></Dial>"):
        found = converted(verbs, IN_US)
        assert found.is_complete
        assert isinstance(found.action, dict)
        assert found.action["data"]["number"] == "+14151234567"
        assert any(f"{number} becomes +14151234567" in each.text for each in found.remarks)
    caller = f'<Dial callerId="{number}">+4722222222</Dial>'
    assert tree(caller, IN_US)["data"]["callerId"] == "+14151234567"


@pytest.mark.parametrize(
    ("number", "given"),
    [
        ("415-123-4567", Context()),
        ("123-4567", IN_US),
        ("415-123-4567 x12", IN_US),
        ("+0415", IN_US),
    ],
)
def test_a_number_without_country_is_never_called(number: str, given: Context) -> None:
    """A loss that names it: it would be a number of another country."""
    for verbs in (
        f"<Dial>{number}</Dial>",
        f"<Dial><Number>{number}</Number></Dial>",
        f'<Dial callerId="{number}">+4722222222</Dial>',
    ):
        found = converted(verbs, given)
        assert any(each.is_lost and repr(number) in each.text for each in found.remarks)
        data = found.action["data"] if isinstance(found.action, dict) else {}
        assert data.get("number") in {None, "+4722222222"}
        assert "callerId" not in data


@pytest.mark.parametrize(
    ("number", "region", "why"),
    [
        ("12345678901234", "DE", "too long: a number has at most 15 digits"),
        ("+4912345678901234", "DE", "too long: a number has at most 15 digits"),
        ("468123456", "SE", "+46468123456 or +468123456?"),
        ("415-123-4567 x12", "US", "a number with an extension can't be called"),
    ],
)
def test_a_number_that_is_none_has_a_reason(number: str, region: str, why: str) -> None:
    """Of two readings none is chosen, as in lists."""
    found = converted(f"<Dial>{number}</Dial>", Context(region=region))
    assert not found.is_complete
    assert any(why in each.text for each in found.remarks), found.remarks


@pytest.mark.parametrize(("number", "region"), [("4915123456789", "DE"), ("447911123456", "NO")])
def test_a_number_is_read_as_in_lists(number: str, region: str) -> None:
    """With the region's own code, or that of another country."""
    found = tree(f"<Dial>{number}</Dial>", Context(region=region))
    assert found["data"]["number"] == f"+{number}"


@pytest.mark.parametrize("given", [Context(), IN_US])
def test_a_number_that_is_certain_is_called(given: Context) -> None:
    """00 is a plus sign; a short number is the carrier's, which is noted."""
    assert tree("<Dial>0047 22-22-22-22</Dial>", given)["data"]["number"] == "+4722222222"
    found = converted("<Dial>112</Dial>", given)
    assert isinstance(found.action, dict)
    assert (found.is_complete, found.action["data"]["number"]) == (True, "112")
    assert any("112 is dialled as it is" in each.text for each in found.remarks)


def test_a_region_changes_no_other_party() -> None:
    """Numbers with their country, SIP addresses and clients stay as they are."""
    parties = (
        "<Number>+47 22 22 22 22</Number><Sip>sip:4151234567@example.com</Sip>"
        "<Client>4151234567</Client>"
    )
    assert tree(f"<Dial>{parties}</Dial>", IN_US)["data"]["number"] == [
        "+4722222222",
        "sip:4151234567@example.com",
        "agent:4151234567",
    ]


def test_options_are_checked() -> None:
    """The error names the option; a country may be in small letters."""
    assert context(OWN, "us") == Context(OWN, "US")
    for base_url, region, option in (("/menu", "", "--base-url"), ("", "Norway", "--region")):
        with pytest.raises(InvalidContext, match=option):
            context(base_url, region)
