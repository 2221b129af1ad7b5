"""What differs between two versions of a flow, field by field."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from base.limit import Limit

MAX_DIFFERENCES: Annotated[
    int, Limit("request", "not shown", "Differences of two versions of a flow that are shown.")
] = 1_000
MAX_PATH_CHARS = 262_144  # of all differences: each has the whole path, whose names may be long


class FlowDifference(Struct, frozen=True):
    """A field that was added, removed or changed, by its path; what it was, and what it is."""

    path: str
    change: Literal["added", "removed", "changed"]
    before: Any | UnsetType = UNSET
    after: Any | UnsetType = UNSET


class FlowDiff(Struct, frozen=True, rename={"from_": "from", "has_more": "hasMore"}):
    """The differences between two versions of a flow, the first ones if there are many."""

    from_: int
    to: int
    differences: tuple[FlowDifference, ...]
    has_more: bool


class Version(NamedTuple):
    """A version of a flow: its number, and its document as JSON."""

    number: int
    document: bytes


def flow_diff(before: Version, after: Version) -> FlowDiff:
    """Compare two versions, which may take as long as a hundred other requests."""
    found: list[FlowDifference] = []
    path_chars, has_more = 0, False
    documents = (msgspec.json.decode(each.document) for each in (before, after))
    for each in differences(*documents):
        path_chars += len(each.path)
        if len(found) == MAX_DIFFERENCES or path_chars > MAX_PATH_CHARS:
            has_more = True
            break
        found.append(each)
    return FlowDiff(before.number, after.number, tuple(found), has_more)


def differences(before: Any, after: Any, path: str = "") -> Iterator[FlowDifference]:
    """Yield the differences of two JSON documents; a list is compared place by place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            inner = f"{path}.{name}" if path else name
            yield from _of_field(before.get(name, UNSET), after.get(name, UNSET), inner)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            inner = f"{path}[{place}]"
            yield from _of_field(_at(before, place), _at(after, place), inner)
    elif type(before) is not type(after) or before != after:
        yield FlowDifference(path, "changed", before, after)


def _of_field(before: Any, after: Any, path: str) -> Iterator[FlowDifference]:
    if before is UNSET:
        yield FlowDifference(path, "added", after=after)
    elif after is UNSET:
        yield FlowDifference(path, "removed", before=before)
    else:
        yield from differences(before, after, path)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else UNSET
