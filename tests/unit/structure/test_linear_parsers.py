"""What strangers send is parsed in linear time: the engine does nothing else meanwhile."""

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from time import process_time
from urllib.parse import quote

import msgspec
import pytest

from base.otel import context_headers
from engine.ami.contacts import address_of_contact, remote_address
from engine.ami.events import take_dtmf
from engine.ami.messages import read_message
from engine.ari.events import decode_event
from engine.calls.model.recording import parse_recording_name
from engine.recordings import Unsatisfiable, byte_range
from engine.runtime.pbx.incoming_call_arguments import (
    MAX_HEADER_LENGTH,
    read_arguments,
    read_identity,
    read_replacement,
    strip_parameters,
)
from engine.runtime.policy.destinations import full_numbers
from tests.harness.ami.monitoring import RecordingListener
from wire.call_id_format import call_of
from wire.decoding.texts import printable
from wire.phone_numbers.e164 import canonical
from wire.phone_numbers.international_form import international

LENGTH = 4_000
# What expressions look for the end of, alone and in pairs; some begin with a part of a header.
UNITS = ('"', "\\", "<", ">", ",", ";", "=", ":", "@", "%", ".", "-", "/", "+", "1", "a", " ", "é")
PAIRS = ('"\\', '\\"', "<>", "<,", ">;", ";=", ";a", "1.", "1-", "1,", "1 ", "+1", "%3")
BEGINNINGS = (
    "",
    '"',
    "<sip:",
    "sip:",
    "tel:",
    "<sip:1@a>;privacy=",
    "<sip:1@a>;index=",
    "1",
    "bytes=",
)
Parser = Callable[[str], object]


def header(name: str) -> Parser:
    return lambda text: read_identity(["1", f"{name}={quote(text, safe='')}"], text)


HEADERS = ("asserted", "from", "privacy", "rpid", "diversion", "history", "presentation")
PARSERS: dict[str, tuple[Parser, int]] = {
    **{name: (header(name), MAX_HEADER_LENGTH // 2) for name in HEADERS},
    "dialled": (lambda text: read_arguments([text, f"no-sdp={text}"]), LENGTH),
    "replaces": (lambda text: read_replacement(text, ["replaces", text, text, text]), LENGTH),
    "number": (strip_parameters, LENGTH),
    "international": (lambda text: international(text, "NO"), LENGTH),
    "e164": (lambda text: canonical(text, "NO"), LENGTH),
    "full numbers": (lambda text: full_numbers(f"sip:{text}", "NO"), 500),
    "name": (printable, LENGTH),
    "channel": (call_of, LENGTH),
    "recording": (parse_recording_name, LENGTH),
    "ari": (lambda text: decode_event(msgspec.json.encode({"type": text, text: text})), LENGTH),
    "ami": (lambda text: read_message(f"Event: {text}\r\n{text}: {text}".encode()), LENGTH),
    "dtmf": (
        lambda text: take_dtmf(f"Event: DTMFEnd\r\n{text}".encode(), RecordingListener()),
        LENGTH,
    ),
    "contact": (address_of_contact, LENGTH),
    "contact's parameters": (lambda text: address_of_contact(f"sip:1@1.1.1.1:5{text}"), LENGTH),
    "login": (remote_address, LENGTH),
    "range": (lambda text: byte_range(text, 100), LENGTH),
    "trace": (lambda text: context_headers({"traceparent": text, "tracestate": text}), LENGTH),
}


def cpu_s(parser: Parser, text: str) -> float:
    """Return the least CPU time of three runs; the caches of some parsers know no text of these."""
    taken = []
    for number in range(3):
        began = process_time()
        with suppress(Unsatisfiable, msgspec.DecodeError):
            parser(f"{text}{number}")
        taken.append(process_time() - began)
    return min(taken)


@pytest.mark.parametrize("name", PARSERS)
def test_twice_the_text_takes_no_more_than_three_times_the_cpu(name: str) -> None:
    """Within a run, and unless it takes hardly any: quadratic time is four times, and far more."""
    parser, length = PARSERS[name]
    for beginning, unit in product(BEGINNINGS, (*UNITS, *PAIRS)):
        text = beginning + unit * (length // len(unit))
        twice = cpu_s(parser, text + unit * (length // len(unit)))
        assert twice < 0.03 or twice <= 3 * cpu_s(parser, text), (beginning, unit)
