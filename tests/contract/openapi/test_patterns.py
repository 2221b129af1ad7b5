r"""Patterns of the OpenAPI documents in RE2, whose syntax and meaning Go's `regexp` has.

RE2 comes as a wheel of 500 KB; Debian's package of Go takes 80 MB to download and 450 MB of disk.
"""

import re
from typing import Any

import pytest
import re2

from tests.harness.openapi.patterns import patterns_of
from tools.docs.reference.openapi import DOCUMENTS

# What patterns are tried with: values that some of them match, alone and with an added character.
VALUES = (
    *("", "example", "1001", "+4721930000", "https://example.com/menu", "http://[::1]:8/a?b#c"),
    *("pbx1/3", "1795683600000-0", "0123456789abcdef01234567", "NO", "47", "PJSIP/1001", "en-GB"),
    *(
        "/customer/name",
        "ann@example.com",
        "UTILITY",
        "åse",
        "a b",
        "A-1.b_c:d",
        "\x00",
        "½",
        "\uff12",
    ),
)
TRIED = (*VALUES, *(f"{each}\n" for each in VALUES), *(f" {each}" for each in VALUES))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_re2_compiles_every_pattern(name: str) -> None:
    """A client in Go can compile all patterns, and they match what Python's match."""
    found = {*patterns_of(DOCUMENTS[name]())}
    assert len(found) > 15
    for pattern in found:
        compiled, strict = re2.compile(pattern), re.compile(re.sub(r"\$(?=\||$)", r"\\Z", pattern))
        for text in TRIED:
            assert bool(compiled.search(text)) == bool(strict.search(text)), (pattern, text)


def test_re2_rejects_what_is_not_portable() -> None:
    """The pattern as the server has it, with a lookahead, fails: the check is one."""
    refused: Any = re2.error
    with pytest.raises(refused):
        re2.compile("^a$(?!\\n)")
