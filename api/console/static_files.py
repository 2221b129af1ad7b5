"""Scripts and styles of the console, below a path that changes with any of them.

They are read and compressed once, and browsers may keep them for ever. Modules import each other by
relative paths, so that all of a page are of one version.
"""

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path

from fastapi import Request
from msgspec import Struct
from starlette.responses import Response

from api.common.errors import NotFound

FOLDER = Path(__file__).with_name("static")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_DIGEST_CHARS = 12


class _File(Struct, frozen=True):
    body: bytes
    compressed: bytes
    media_type: str


class StaticFiles:
    """The files, by their path."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = _read(folder)
        together = hashlib.sha256()
        for path, found in sorted(self._files.items()):
            together.update(path.encode() + b"\0" + found.body)
        self.version = together.hexdigest()[:_DIGEST_CHARS]

    def serve(self, version: str, path: str, request: Request) -> Response:
        """Return a file; raises NotFound. A page of an earlier version gets it, too, uncached."""
        found = self._files.get(path)
        if found is None:
            raise NotFound("the console has no such file")
        headers = {
            "Cache-Control": _FOR_EVER if version == self.version else "no-store",
            "Vary": "Accept-Encoding",
            "Access-Control-Allow-Origin": "*",  # pages of others embed the phone
        }
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return Response(found.body, headers=headers, media_type=found.media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(found.compressed, headers=headers, media_type=found.media_type)


def _read(folder: Path) -> Mapping[str, _File]:
    found: dict[str, _File] = {}
    for path in folder.rglob("*"):
        media_type = TYPES.get(path.suffix)
        if media_type is not None:
            body = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            found[name] = _File(body, gzip.compress(body, mtime=0), media_type)
    return found
