"""Requests for tags, and the tags of a query."""

import re
from typing import Annotated

from msgspec import Meta, Struct, field
from pydantic import AfterValidator, Field

from wire.decoding import patterns

TAG = patterns.TAG
MAX_TAGS = 20
_TAG = re.compile(TAG)


def _validate_tags(text: str) -> str:
    tags = split_tags(text)
    if len(tags) > MAX_TAGS or not all(map(_TAG.search, tags)):
        raise ValueError(f"expected at most {MAX_TAGS} tag ids, separated by commas")
    return text


def split_tags(text: str) -> tuple[str, ...]:
    """Return the distinct tags of a comma-separated text, without the spaces around them.

    Other blanks are part of a tag, as of the pattern.
    """
    return tuple(dict.fromkeys(filter(None, (tag.strip(" ") for tag in text.split(",")))))


Tags = Annotated[
    str,
    Field(max_length=2_048, description="Any of several, separated by commas."),
    AfterValidator(_validate_tags),
]
Tag = Annotated[str, Meta(pattern=TAG)]
TagIds = Annotated[tuple[Tag, ...], Meta(max_length=100)]  # null: none


class ListTagsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The tags to add to a list, and to remove."""

    add: TagIds = field(name="tagsToAdd", default=())
    remove: TagIds = field(name="tagsToRemove", default=())


class ManageTagsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag to remove from a list's contacts, and the one to add instead.

    Without the first, all contacts get the second; without the second, those that have the first
    lose it.
    """

    remove: Tag | None = field(name="removeTag", default=None)
    insert: Tag | None = field(name="insertTag", default=None)
