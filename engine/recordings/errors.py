"""How filing a recording fails, for now: nothing is lost by it, it is tried again."""

from typing import Literal


class ArchiveError(Exception):
    """A recording could not be fetched from its `pbx`, or not be put into the `archive`."""

    def __init__(self, where: Literal["pbx", "archive", "disk", "busy"], text: str) -> None:
        super().__init__(f"{where}: {text}")
        self.where = where
