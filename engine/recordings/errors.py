"""The error of archiving a recording; the operation is retried and nothing is lost."""

from typing import Literal


class ArchiveError(Exception):
    """A recording could not be fetched from its `pbx` or stored in the `archive`."""

    def __init__(self, fault: Literal["pbx", "archive", "disk", "busy"], text: str) -> None:
        super().__init__(f"{fault}: {text}")
        self.fault = fault
