"""Requests: path, query and body."""

import pytest

from engine.ari.generated.operations import applications, bridges, channels, playbacks
from engine.ari.request import Reply, Request


def test_an_operation_is_a_plain_request() -> None:
    """An operation returns a request and has no side effect."""
    request = channels.play("c1", media=["sound:a", "sound:b"], playback_id="p1", offsetms=1500)
    assert request == Request(
        "POST",
        "channels/c1/play",
        (("media", "sound:a,sound:b"), ("offsetms", "1500"), ("playbackId", "p1")),
    )


def test_unset_parameters_are_not_sent() -> None:
    """Omitted parameters are not in the query; booleans are spelled as ARI expects."""
    assert playbacks.stop("p1").uri == "playbacks/p1"
    request = bridges.add_channel("b1", channel=["c1", "c2"], mute=False)
    assert request.uri == "bridges/b1/addChannel?channel=c1,c2&mute=false"


def test_ids_are_quoted() -> None:
    """A slash or a question mark in an id stays inside its segment; a space is %20, not a plus."""
    assert channels.get("a/b?c").uri == "channels/a%2Fb%3Fc"
    assert channels.get_channel_var("c", variable="X Y").uri.endswith("variable=X%20Y")


def test_a_comma_would_split_a_value() -> None:
    """ARI separates values by commas, so a value with a comma is rejected."""
    with pytest.raises(ValueError, match="comma"):
        channels.play("c1", media=["sound:http://host/a,b"])


def test_bodies_have_the_expected_shape() -> None:
    """Variables are nested under their name; the event filter is the body itself."""
    originate = channels.originate_with_id("c1", endpoint="PJSIP/x", variables={"A": "1"})
    assert originate.body == {"variables": {"A": "1"}}
    assert applications.filter_("app", filter={"disallowed": []}).body == {"disallowed": []}


def test_only_two_hundreds_are_ok() -> None:
    """A lost reply and an error are not ok."""
    assert [Reply(status).ok for status in (0, 200, 204, 404, 500)] == [
        False,
        True,
        True,
        False,
        False,
    ]
