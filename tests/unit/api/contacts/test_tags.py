"""Tags of a query."""

import re

import pytest

from api.contacts.tags import TAG, split_tags


@pytest.mark.parametrize("tag", ["\u2028", "\u00a0vip", "vip\u3000", "\x85", "a b"])
def test_a_tag_is_found_by_itself(tag: str) -> None:
    """Whatever may be a tag is one in a query, too."""
    assert re.search(TAG, tag)
    assert split_tags(tag) == (tag,)
    assert split_tags(f"{tag}, new,, {tag} ") == (tag, "new")
