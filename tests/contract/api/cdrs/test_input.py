"""Invalid input of `/srmain/cdr…`: 400 with the field's name."""

from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.serving import Served

ODD_TIMES = [
    "yesterday",
    "1700000000",
    "2026-11-21T",
    "2026-13-01T00:00:00Z",
    "2026-06-31T00:00:00Z",
    "20261121T100000Z",
    "2026-11-21T10:00:00+99:99",
    "0001-01-01T00:00:00+14:00",
    "",
]
BAD = [
    ("limit", "0"),
    ("limit", "1001"),
    ("limit", "ten"),
    ("limit", "1e999"),
    ("offset", "-1"),
    ("offset", "100001"),
    ("startTime", "2026-11-21T10:00:00Z"),
    ("endTime", "2026-11-21T10:00:00Z"),
    ("callerId", "+47%"),
    ("toNumber", "' OR 1=1"),
    ("dialedNumber", "47*\n"),
    ("reqId", "%"),
    ("clientId", "c" * 257),
    ("clientId", "c\n"),
    ("callPath", "a\\b"),
    ("callPath", "in*"),
    ("obdType", "\x00"),
    ("answerStatus", "maybe"),
    ("recordingPurpose", "fax"),
    ("dispositionLevel1Id", "?"),
    ("dispositionLevel2Id", "%"),
    ("dispositionLevel3Id", "x" * 257),
    ("agentName", ",".join(map(str, range(21)))),
    ("agentName", "Ni\t"),
    ("cursor", "not-one"),
    ("callerid", "+4733333333"),
]


async def test_bad_input_names_its_field(served: Served) -> None:
    """List and export reject the same input; half a time range names the missing half."""
    for name, value in BAD:
        expected = {"startTime": "endTime", "endTime": "startTime"}.get(name, name)
        query = {**REQUIRED, name: value}
        assert await served.faults("GET", "/srmain/cdr", **query) == {expected}, (name, value)
        if (name, value) != ("limit", "1001"):
            assert await served.faults("POST", "/srmain/cdr/export", **query) == {expected}


async def test_odd_times(served: Served) -> None:
    """Times must be ISO 8601, and the end must not be before the start."""
    for odd in ODD_TIMES:
        times = {"startTime": odd, "endTime": "2026-11-21T10:00:00Z"}
        assert await served.faults("GET", "/srmain/cdr", **REQUIRED, **times) == {"startTime"}, odd
    times = {"startTime": "2026-11-21T10:00:01Z", "endTime": "2026-11-21T10:00:00Z"}
    assert await served.faults("GET", "/srmain/cdr", **REQUIRED, **times) == {"endTime"}


async def test_what_is_required(served: Served) -> None:
    """A required parameter may be empty, but not missing."""
    assert await served.faults("GET", "/srmain/cdr") == set(REQUIRED)
    assert await served.faults("POST", "/srmain/cdr/export") == set(REQUIRED)
    missing = await served.faults("GET", "/srmain/cdr/customer-history")
    assert missing == {"number", "limit", "offset"}
    cursor = {"cursor": "MS4x", "offset": 1}
    assert await served.faults("GET", "/srmain/cdr", **REQUIRED, **cursor) == {"offset"}
