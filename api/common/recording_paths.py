"""Where a recording is: `{day}/{file}` below its account, as in the address that events tell."""

import re

from msgspec import Struct

from api.common.errors import NotFound

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FILE = re.compile(r"(?P<call>[A-Za-z0-9_\-]{1,128})(\.v[0-9]{1,6})?\.wav")


class RecordingPath(Struct, frozen=True):
    """The path of a recording of an account."""

    account_id: str
    day: str
    file: str

    @property
    def text(self) -> str:
        return f"{self.account_id}/{self.below_account}"

    @property
    def below_account(self) -> str:
        return f"{self.day}/{self.file}"

    @property
    def call_id(self) -> str:
        found = _FILE.fullmatch(self.file)
        return found["call"] if found else ""


def recording_path(account_id: str, day: str, file: str) -> RecordingPath:
    """Return the path of these parts; raises NotFound if a part is malformed."""
    if not (_DAY.fullmatch(day) and _FILE.fullmatch(file)):
        raise NotFound("no such recording")
    return RecordingPath(account_id, day, file)


def path_of_url(account_id: str, url: str) -> RecordingPath | None:
    """Return the path at the end of a recording's address; None if it is of another form."""
    parts = url.rsplit("/", 3)[1:]
    if len(parts) != len(("account", "day", "file")) or parts[0] != account_id:
        return None
    try:
        return recording_path(*parts)
    except NotFound:
        return None
