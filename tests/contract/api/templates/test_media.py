"""Header media over HTTP, with a simulated platform."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.api.databases import sqlite_url
from tests.harness.api.templates.messaging import BASE, HELLO, Messaging, messaging
from tests.harness.customers import msgapp_faults as faults
from tests.harness.customers.msgapp_names import APP
from tests.harness.rpc.scene import RpcScene

SEND, UPLOAD = f"{BASE}/test-send", f"{BASE}/upload-header-media"
TO = "+4722222222"
VALUES = {"1": "Ada", "2": "the order"}
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 64
MP4 = b"\0\0\0\x20ftypisom" + b"\0" * 64
PDF = b"%PDF-1.7\n" + b"\0" * 64
MIB = 1_048_576


async def upload(one: Messaging, content: bytes, kind: str, name: str = "file") -> Any:
    """Upload a file; return the response."""
    return await one.rest.request(
        "POST", UPLOAD, files={"file": (name, content)}, data={"mediaKind": kind}
    )


@pytest.mark.parametrize(
    ("content", "kind", "mime"),
    [
        (PNG, "image", "image/png"),
        (JPEG, "IMAGE", "image/jpeg"),
        (MP4, "video", "video/mp4"),
        (PDF, "document", "application/pdf"),
        (PDF + b"x" * (3 * MIB), "document", "application/pdf"),
    ],
)
async def test_a_file_is_uploaded(one: Messaging, content: bytes, kind: str, mime: str) -> None:
    """The platform gets type, size and unchanged content; the response has the handle."""
    answer = await upload(one, content, kind, "../../odd näme?.png")
    assert answer.status_code == 200, answer.text
    (key,) = one.platform.files
    assert answer.json() == {
        "handle": f"4::{key}",
        "mediaKind": kind.lower(),
        "mimeType": mime,
        "size": len(content),
    }
    assert one.platform.files[key] == content
    assert one.platform.uploads[key] == {
        "file_length": str(len(content)),
        "file_type": mime,
        "file_name": ".._.._odd_n_me_.png",
    }
    assert one.platform.requests[0].path.endswith(f"/{APP}/uploads")


async def test_an_uploaded_header_is_used(one: Messaging) -> None:
    """A template uses the uploaded example; each message has a link of its own."""
    handle = (await upload(one, PNG, "image")).json()["handle"]
    header = {"type": "HEADER", "format": "IMAGE", "example": {"header_handle": [handle]}}
    made = await one.approved(components=[header, *HELLO["components"]])
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    problem = await one.rest.rejected("POST", SEND, request_body)
    assert problem == (400, "value_missing", ["variableValues.header"])
    link = "https://example.com/a.png"
    await one.rest.post(SEND, **{**request_body, "variableValues": {**VALUES, "header": link}})
    (first, _body) = one.platform.messages[0]["template"]["components"]
    image = {"type": "image", "image": {"link": link}}
    assert first == {"type": "header", "parameters": [image]}


@pytest.mark.parametrize(
    ("content", "kind", "code", "path"),
    [
        (b"", "image", "empty", "file"),
        (b"MZ\x90\0" + b"\0" * 64, "image", "wrong_type", "file"),
        (PDF, "image", "wrong_type", "file"),
        (PNG, "document", "wrong_type", "file"),
        (b"\0\0\0\x20ftypqt  " + b"\0" * 64, "video", "wrong_type", "file"),
        (b"<svg onload=alert(1)>", "image", "wrong_type", "file"),
        (PNG, "sticker", "invalid", "mediaKind"),
        (PNG + b"\0" * (5 * MIB), "image", "too_large", "file"),
        (MP4 + b"\0" * (16 * MIB), "video", "too_large", "file"),
    ],
)
async def test_invalid_files(
    one: Messaging, content: bytes, kind: str, code: str, path: str
) -> None:
    """The content decides about the type, not the name; the platform gets no request."""
    problem = await one.rest.rejected(
        "POST", UPLOAD, files={"file": ("a.png", content)}, data={"mediaKind": kind}
    )
    assert problem == (400, code, [path])
    assert one.platform.requests == []


async def test_invalid_forms(one: Messaging) -> None:
    """The error names a missing part; requests without a valid form get 400."""
    single = {"file": ("a.png", PNG)}
    kind = {"mediaKind": "image"}
    assert (await one.rest.rejected("POST", UPLOAD, files=single))[2] == ["mediaKind"]
    assert (await one.rest.rejected("POST", UPLOAD, data=kind))[2] == ["file"]
    assert (await one.rest.rejected("POST", UPLOAD, {"file": "x"}))[2] == ["file"]
    two = [("file", ("a", PNG)), ("more", ("b", PNG))]
    assert (await one.rest.rejected("POST", UPLOAD, files=two, data=kind))[0] == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (b"--y\r\n", b"--x\r\nnonsense", b"x" * 1_000):
        assert (await one.rest.rejected("POST", UPLOAD, body, headers=headers))[0] == 400
    whole = b'--x\r\nContent-Disposition: form-data; name="mediaKind"\r\n\r\n+2AA-\r\n--x--\r\n'
    for charset in ("undefined", "utf-7", "punycode"):
        headers = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
        assert (await one.rest.rejected("POST", UPLOAD, whole, headers=headers))[0] == 400
    headers = {"Content-Type": "multipart/form-data"}
    assert (await one.rest.rejected("POST", UPLOAD, b"--x", headers=headers))[0] == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": "2000000000"}
    assert (await one.rest.rejected("POST", UPLOAD, b"", headers=headers))[0] == 413
    assert one.platform.requests == []


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (faults.answers(b'{"id": "https://elsewhere.example/"}'), 503, "platform_down"),
        (faults.answers(b'{"id": "upload:/../../x"}'), 503, "platform_down"),
        (faults.rate_limited({"Retry-After": "3"}), 429, "platform_rate_limit"),
        (faults.fails(400, 100), 400, "platform_100"),
    ],
)
async def test_an_upload_that_fails(
    one: Messaging, fault: faults.Fault, status: int, code: str
) -> None:
    """The error is returned; a session id with another path is not requested."""
    one.platform.next_answers(fault)
    answer = await upload(one, PNG, "image")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert one.platform.files == {}


async def test_without_an_app_uploads_fail(tmp_path: Path, scene: RpcScene) -> None:
    """They need an app in the settings."""
    async with messaging(sqlite_url(tmp_path), scene, app_id=None) as stack:
        answer = await upload(stack, PNG, "image")
        assert (answer.status_code, answer.json()["code"]) == (503, "no_app")
