"""The text that `switchroom listen` prints."""

import json

import pytest
import yaml

from cli.commands.listen import exchange_text, printer
from cli.listen import path_and_query
from cli.output import OutputFormat
from wire.listeners import ListenerRequest, ListenerResponse

REQUEST = ListenerRequest(
    "r1", "POST", "https://a.example/next?a=b", {"Idempotency-Key": "c1.r0"}, '{"a": 1}', 0
)


def test_a_request_and_its_response_are_shown() -> None:
    """With headers and bodies, unless they are not wanted; a note is always shown."""
    response = ListenerResponse(body='{"type": "hangup"}')
    assert exchange_text(REQUEST, response, "too late", has_bodies=True).splitlines() == [
        "POST /next?a=b -> 200",
        "  Idempotency-Key: c1.r0",
        '  > {"a": 1}',
        '  < {"type": "hangup"}',
        "  too late",
    ]
    failed = ListenerResponse(fault="connect")
    assert exchange_text(REQUEST, failed, "", has_bodies=False) == "POST /next?a=b -> connect\n"


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_programs_get_one_document_for_each_request(
    capsysbinary: pytest.CaptureFixture[bytes], output: OutputFormat
) -> None:
    """JSON is a line, so that a reader of lines gets each at once; YAML documents are marked."""
    printer(output, has_bodies=True)(REQUEST, ListenerResponse(body="a\nb"), "too late")
    printer(output, has_bodies=False)(REQUEST, ListenerResponse(body="a"), "")
    text = capsysbinary.readouterr().out.decode()
    if output == "json":
        first, second = map(json.loads, text.splitlines())
    else:
        first, second = yaml.safe_load_all(text)
    assert (first["request"]["body"], first["response"]["body"]) == ('{"a": 1}', "a\nb")
    assert (first["request"]["method"], first["response"]["status"]) == ("POST", 200)
    assert first["note"] == "too late"
    assert "body" not in {*second["request"], *second["response"]}


def test_control_characters_do_not_reach_the_terminal() -> None:
    """A response may have sequences that change its title or colours."""
    response = ListenerResponse(body="\x1b]0;title\x07 text")
    assert "\x1b" not in exchange_text(REQUEST, response, "", has_bodies=True)


def test_an_address_in_any_script() -> None:
    """It reaches the local server as HTTP sends it; what is escaped already stays."""
    assert (
        path_and_query("https://a.example/støtte/%2F?q=a%20b&x=1") == "/st%C3%B8tte/%2F?q=a%20b&x=1"
    )
