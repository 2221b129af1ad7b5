"""`ETag` and `If-Match`: of two people who change a resource at once, the second gets 412.

The ETag of a resource is its version. A change with `If-Match` is made only to that version, and
one with `If-None-Match: *` only if the resource does not exist yet (RFC 9110, section 13.1).
"""

import re
from typing import Annotated

from fastapi import Depends, Header, Response
from msgspec import Struct

from api.common.errors import PreconditionFailed
from api.http.msgspec_adapter import json_response
from wire.decoding.errors import BadInput

# A proxy that compresses a response makes its ETag weak (nginx) or adds the coding (Apache, Caddy).
_TAG = re.compile(r'(?:W/)?"([0-9]{1,18})(?:[-;][-;a-z]*)?"')
ABSENT = 0  # the version of a resource that does not exist


class Precondition(Struct, frozen=True):
    """The version that a change expects; None: it expects none, 0: there is no resource yet."""

    version: int | None = None

    def check(self, version: int) -> None:
        """Raise PreconditionFailed if a resource has another version."""
        if self.version not in {None, version}:
            raise PreconditionFailed(self._text(version))

    def _text(self, version: int) -> str:
        if self.version == ABSENT:
            return "there is such a resource already (If-None-Match: *)"
        if version == ABSENT:
            return "the resource does not exist (If-Match)"
        return "the resource has changed since it was read (If-Match); read it again"


async def _precondition(
    if_match: Annotated[
        str | None,
        Header(
            max_length=64,
            description="The ETag of the resource as it was read: of another version it is 412.",
        ),
    ] = None,
    if_none_match: Annotated[
        str | None,
        Header(max_length=64, description="`*`: create the resource; if there is one it is 412."),
    ] = None,
) -> Precondition:
    if if_match is None and if_none_match is None:
        return Precondition()
    if if_match is None:
        if if_none_match != "*":
            raise BadInput("If-None-Match", "expected *")
        return Precondition(ABSENT)
    found = _TAG.fullmatch(if_match)
    if found is None or if_none_match is not None:
        raise BadInput("If-Match", 'expected the ETag of a response, such as "17", alone')
    return Precondition(int(found[1]))


IfMatch = Annotated[Precondition, Depends(_precondition)]


def tagged_response(body: object, version: int, status: int = 200) -> Response:
    """Return a value as JSON, with its version as ETag."""
    response = json_response(body, status)
    response.headers["ETag"] = f'"{version}"'
    return response
