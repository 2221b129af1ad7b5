"""A document that is made once: its bytes, compressed and not, and its ETag.

Anybody may request it without a key, so a response must cost no more than its bytes.
"""

import gzip
import hashlib
from collections.abc import Mapping

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response


class StaticDocument(Struct, frozen=True):
    body: bytes
    compressed: bytes
    etag: str
    media_type: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> "StaticDocument":
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        return cls(body, gzip.compress(body, mtime=0), etag, media_type)

    def response(self, request: Request, more: Mapping[str, str]) -> Response:
        """Return the document as a client takes it; 304 if it has it."""
        headers = {
            **more,
            "Cache-Control": "public, no-cache",
            "ETag": self.etag,
            "Vary": "Accept-Encoding",
        }
        # without its last quote: a proxy that compresses may add the coding before that
        if self.etag[:-1] in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return Response(self.body, headers=headers, media_type=self.media_type)
        headers["Content-Encoding"] = "gzip"
        return Response(self.compressed, headers=headers, media_type=self.media_type)
