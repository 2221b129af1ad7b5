"""Files for headers: known by what is in them, as large as the platform takes them, handed on."""

import re
from typing import IO

from msgspec import Struct

from api.messaging_platform.messages import PlatformMessages
from api.templates.schemas import UploadResult
from wire.errors import BadInput

MEGABYTE = 1_048_576
# Its documentation, "Supported media types"; of uploads by handle, it takes these types.
KINDS: dict[str, tuple[int, frozenset[str]]] = {
    "image": (5 * MEGABYTE, frozenset({"image/jpeg", "image/png"})),
    "video": (16 * MEGABYTE, frozenset({"video/mp4"})),
    "document": (100 * MEGABYTE, frozenset({"application/pdf"})),
}
MAX_BYTES = max(most for most, _ in KINDS.values())
HEAD_BYTES = 16
_UNSAFE = re.compile(r"[^A-Za-z0-9._\-]+")
_NOT_VIDEO = (b"qt  ", b"M4A ", b"heic", b"heix", b"mif1", b"avif", b"crx ")


class Media(Struct, frozen=True):
    """Takes files, and hands them on."""

    platform: PlatformMessages

    async def upload(
        self, account_id: str, file: IO[bytes], size: int, kind: str, name: str
    ) -> UploadResult:
        """Check a file and upload it; gives the handle that a component's example names."""
        mime = check_file(file.read(HEAD_BYTES), size, kind)
        file.seek(0)
        business = self.platform.client.business(account_id)
        handle = await self.platform.upload(business, file, size, mime, _safe(name))
        return UploadResult(handle, kind.lower(), mime, size)


def check_file(head: bytes, size: int, kind: str) -> str:
    """Give the type of a file that may be of a kind; raises BadInput."""
    found = KINDS.get(kind.lower())
    if found is None:
        raise BadInput("mediaKind", f"expected one of {', '.join(KINDS)}")
    most, allowed = found
    if size == 0:
        raise BadInput("file", "the file is empty", "empty")
    if size > most:
        text = f"larger than {most // MEGABYTE} MiB, as much as mediaKind {kind.lower()} may have"
        raise BadInput("file", text, "too_large")
    mime = type_of(head)
    if mime not in allowed:
        text = f"its content is {mime or 'of no known type'}, not {' or '.join(sorted(allowed))}"
        raise BadInput("file", text, "wrong_type")
    return mime


def type_of(head: bytes) -> str | None:
    """Tell a file's type by how it begins, whatever it is called."""
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if head[4:8] == b"ftyp" and head[8:12] not in _NOT_VIDEO:
        return "video/mp4"
    return None


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[-100:] or "file"
