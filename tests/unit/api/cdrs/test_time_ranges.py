"""The time ranges of lists."""

import pytest
from pydantic import BaseModel, ValidationError

from api.audit.routes import AuditQuery
from api.cdrs.schemas import CdrListQuery
from api.recordings.schemas import RecordingQuery
from tests.harness.api.cdrs.lists import REQUIRED

LISTS: dict[type[BaseModel], dict[str, str]] = {
    CdrListQuery: dict(REQUIRED),
    RecordingQuery: {},
    AuditQuery: {},
}


@pytest.mark.parametrize("query", LISTS)
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-11-21T10:00:01Z", "2026-11-21T10:00:00Z"),
        ("2026-11-21", "2026-11-20"),
        ("2026-11-21T00:00:00Z", "2026-11-20"),
    ],
)
def test_an_end_before_the_start_is_refused(query: type[BaseModel], start: str, end: str) -> None:
    """A date ends with its day: that of the day before is before the start."""
    with pytest.raises(ValidationError, match="before startTime") as caught:
        query.model_validate({**LISTS[query], "startTime": start, "endTime": end})
    assert [each["loc"] for each in caught.value.errors()] == [("endTime",)]


@pytest.mark.parametrize("query", LISTS)
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T10:00:00Z", "2026-11-21"),
        ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"),
        ("", ""),
    ],
)
def test_a_day_or_a_moment_is_a_range(query: type[BaseModel], start: str, end: str) -> None:
    """A program may ask for what is new since a moment ago."""
    assert query.model_validate({**LISTS[query], "startTime": start, "endTime": end})
