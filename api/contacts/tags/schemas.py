"""Tags as they are asked for."""

import re
from typing import Annotated

from msgspec import Meta, Struct, field
from pydantic import AfterValidator, Field

from wire import patterns

TAG = r"^[A-Za-z0-9_.:\-]{1,64}" + patterns.END
MAX_TAGS = 20
_TAG = re.compile(TAG)


def _tags(text: str) -> str:
    tags = split_tags(text)
    if len(tags) > MAX_TAGS or not all(map(_TAG.search, tags)):
        raise ValueError(f"expected at most {MAX_TAGS} tag ids, separated by commas")
    return text


def split_tags(text: str) -> tuple[str, ...]:
    """Split tags at their commas."""
    return tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


Tags = Annotated[
    str,
    Field(max_length=2_048, description="Any of several, separated by commas."),
    AfterValidator(_tags),
]
Tag = Annotated[str, Meta(pattern=TAG)]
Several = Annotated[tuple[Tag, ...], Meta(max_length=100)]


class ListTagsBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tags a list gets, and which it loses."""

    add: Several = field(name="tagsToAdd", default=())
    remove: Several = field(name="tagsToRemove", default=())


class ManageTagsBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag that contacts of a list lose, and the one that they get instead.

    Without the first all of them get the second; without the second those that have the first
    lose it.
    """

    remove: Tag | None = field(name="removeTag", default=None)
    insert: Tag | None = field(name="insertTag", default=None)
