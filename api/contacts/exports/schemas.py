"""Requests for exports."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field


class DownloadBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The list to export, and the format."""

    list_id: Annotated[str, Meta(min_length=1, max_length=32)] = field(name="contactListId")
    format: Literal["csv", "xlsx"] = "csv"
