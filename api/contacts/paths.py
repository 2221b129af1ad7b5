"""Ids in paths, spelled there as the specification has them."""

from typing import Annotated

from fastapi import Path

ListName = Annotated[str, Path(alias="contactListId")]
ContactName = Annotated[str, Path(alias="contactId")]
Name = Annotated[str, Path(alias="id")]
