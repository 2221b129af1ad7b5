"""Ids and paths of lists and contacts; an id of another form is not found."""

import re
from typing import Annotated

from fastapi import Path

from api.common.errors import NotFound

BASE = "/srmain/contacts_list"
_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


def parse_id(text: str, resource: str) -> int:
    """Parse an id; raises NotFound."""
    if not _ID.fullmatch(text):
        raise NotFound(f"no {resource} of this id")
    return int(text)


ListIdPath = Annotated[str, Path(alias="contactListId")]
ContactIdPath = Annotated[str, Path(alias="contactId")]
IdPath = Annotated[str, Path(alias="id")]
