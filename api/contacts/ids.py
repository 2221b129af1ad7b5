"""Ids of lists, contacts and files as text: what was never given is simply not found."""

import re
from typing import Annotated

from fastapi import Path

from api.common.errors import NotFound

_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


def read_id(text: str, what: str) -> int:
    """Read an id; raises NotFound."""
    if not _ID.fullmatch(text):
        raise NotFound(f"no {what} of this id")
    return int(text)


ListIdPath = Annotated[str, Path(alias="contactListId")]
ContactIdPath = Annotated[str, Path(alias="contactId")]
IdPath = Annotated[str, Path(alias="id")]
