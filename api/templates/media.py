"""Header media: validates a file's content type and size, and uploads it to the platform."""

import re
from typing import IO

from msgspec import Struct

from api.messaging_platform.messages import PlatformMessages
from api.templates.schemas import UploadResult
from wire.decoding.errors import BadInput

MEGABYTE = 1_048_576
# Its documentation, "Supported media types": those that uploads by handle accept.
KINDS: dict[str, tuple[int, frozenset[str]]] = {
    "image": (5 * MEGABYTE, frozenset({"image/jpeg", "image/png"})),
    "video": (16 * MEGABYTE, frozenset({"video/mp4"})),
    "document": (100 * MEGABYTE, frozenset({"application/pdf"})),
}
MAX_BYTES = max(max_bytes for max_bytes, _ in KINDS.values())
HEAD_BYTES = 16
_UNSAFE = re.compile(r"[^A-Za-z0-9._\-]+")
_NOT_VIDEO = (b"qt  ", b"M4A ", b"heic", b"heix", b"mif1", b"avif", b"crx ")


class Media(Struct, frozen=True):
    platform: PlatformMessages

    async def upload(
        self, account_id: str, file: IO[bytes], size: int, kind: str, name: str
    ) -> UploadResult:
        """Validate and upload a file; return the handle for a component's example."""
        mime = check_file(file.read(HEAD_BYTES), size, kind)
        file.seek(0)
        business = self.platform.client.business(account_id)
        handle = await self.platform.upload(business, file, size, mime, _safe(name))
        return UploadResult(handle, kind.lower(), mime, size)


def check_file(head: bytes, size: int, kind: str) -> str:
    """Return a file's MIME type if it is allowed for the media kind; raises BadInput."""
    allowed = KINDS.get(kind.lower())
    if allowed is None:
        raise BadInput("mediaKind", f"expected one of {', '.join(KINDS)}")
    max_bytes, mime_types = allowed
    if size == 0:
        raise BadInput("file", "the file is empty", "empty")
    if size > max_bytes:
        text = f"larger than {max_bytes // MEGABYTE} MiB, the maximum for mediaKind {kind.lower()}"
        raise BadInput("file", text, "too_large")
    mime = type_of(head)
    if mime not in mime_types:
        text = f"its content is {mime or 'of no known type'}, not {' or '.join(sorted(mime_types))}"
        raise BadInput("file", text, "wrong_type")
    return mime


def type_of(head: bytes) -> str | None:
    """Detect a file's MIME type from its first bytes."""
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
