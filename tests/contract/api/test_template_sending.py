"""Templates sent as a test, and files for their headers, over HTTP and before the double."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.api.databases import sqlite_url
from tests.contract.api.messaging import BASE, HELLO, Messaging, messaging
from tests.contract.rpc_bench import Bench
from tests.harness import msgapp_faults as faults
from tests.harness.msgapp_names import APP, PRODUCT, phone_id, token

SEND, UPLOAD = f"{BASE}/test-send", f"{BASE}/upload-header-media"
TO = "+4722222222"
VALUES = {"1": "Ada", "2": "the order"}
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 64
MP4 = b"\0\0\0\x20ftypisom" + b"\0" * 64
PDF = b"%PDF-1.7\n" + b"\0" * 64
MIB = 1_048_576


@pytest.fixture
async def house(tmp_path: Path, bench: Bench) -> AsyncIterator[Messaging]:
    """Give the layer over SQLite."""
    async with messaging(sqlite_url(tmp_path), bench, timeout_s=2) as made:
        yield made


async def approved(house: Messaging, **more: Any) -> Any:
    """Make a template that may be sent."""
    made = await house.create(**more)
    house.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
    return made


async def upload(house: Messaging, content: bytes, kind: str, name: str = "file") -> Any:
    """Upload a file."""
    return await house.rest.ask(
        "POST", UPLOAD, files={"file": (name, content)}, data={"mediaKind": kind}
    )


async def test_a_template_is_sent(house: Messaging) -> None:
    """With its values in their places, to the number in E.164; the platform's id is told."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": "47 22 22 22 22", "variableValues": VALUES}
    sent = await house.rest.post(SEND, **asked)
    assert sent == {"messageId": "wamid.1", "messageStatus": "accepted", "phoneNumber": TO}
    parameters = [{"type": "text", "text": each} for each in VALUES.values()]
    assert house.platform.messages == [
        {
            "messaging_product": PRODUCT,
            "recipient_type": "individual",
            "to": TO,
            "type": "template",
            "template": {
                "name": "hello",
                "language": {"code": "en_US"},
                "components": [{"type": "body", "parameters": parameters}],
            },
        }
    ]
    assert house.platform.seen[-1].path.endswith(f"/{phone_id('acme')}/messages")


async def test_a_template_without_placeholders(house: Messaging) -> None:
    """Needs no values."""
    made = await approved(house, components=[], bodyText="Hello.")
    await house.rest.post(SEND, templateId=made["id"], phoneNumber=TO)
    assert house.platform.messages[0]["template"].keys() == {"name", "language"}


async def test_the_sender_may_be_another(house: Messaging) -> None:
    """A number of the account, and an active one."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    number = {"businessName": "x", "phoneNumberId": "p2", "businessMsgappNumber": "+4721930001"}
    kept = await house.rest.post("/srmain/msgapp-numbers", **number)
    house.platform.next_answers(faults.fails(400, 131009, "Parameter value is not valid"))
    refused = await house.rest.refused("POST", SEND, {**asked, "senderPhoneNumberId": "p2"})
    assert refused[:2] == (400, "platform_131009")
    await house.rest.ask("PATCH", f"/srmain/msgapp-numbers/{kept['id']}", {"isActive": False})
    for sender in ("p2", phone_id("other"), "none"):
        wish = {**asked, "senderPhoneNumberId": sender}
        status, _code, paths = await house.rest.refused("POST", SEND, wish)
        assert (status, paths) == (400, ["senderPhoneNumberId"])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"templateId": None}, "templateId"),
        ({"templateId": "unknown"}, "templateId"),
        ({"templateId": "\x00"}, "templateId"),
        ({"phoneNumber": None}, "phoneNumber"),
        ({"phoneNumber": "call me"}, "phoneNumber"),
        ({"phoneNumber": "+1"}, "phoneNumber"),
        ({"variableValues": {"1": "Ada"}}, "variableValues.2"),
        ({"variableValues": {**VALUES, "3": "x"}}, "variableValues.3"),
        ({"variableValues": {"1": "", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a\nb", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a     b", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a" * 1_000, "2": "b" * 20}}, "variableValues"),
        ({"variableValues": {"1": 7, "2": "x"}}, "variableValues[...]"),
        ({"variableValues": []}, "variableValues"),
        ({"senderPhoneNumberId": "a/b"}, "senderPhoneNumberId"),
        ({"extra": 1}, "extra"),
    ],
)
async def test_bad_input_names_its_field(
    house: Messaging, change: dict[str, Any], path: str
) -> None:
    """And nothing is sent."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES, **change}
    asked = {name: each for name, each in asked.items() if each is not None}
    status, _code, paths = await house.rest.refused("POST", SEND, asked)
    assert (status, paths) == (400, [path])
    assert house.platform.of("POST", "/messages") == []


async def test_what_the_platform_says_of_a_message(house: Messaging) -> None:
    """A template that is not approved, or not there any more: its words, and our status."""
    made = await house.create()
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    assert (await house.rest.refused("POST", SEND, asked))[:2] == (400, "platform_132015")
    house.there.all.clear()
    assert (await house.rest.refused("POST", SEND, asked))[:2] == (400, "platform_132001")
    theirs = await house.rest.token_of("other", "other")
    refused = await house.rest.refused("POST", SEND, asked, token=theirs)
    assert refused == (400, "unknown_template", ["templateId"])


async def test_a_token_that_is_told_back_is_kept_secret(house: Messaging) -> None:
    """The platform repeats one that it does not understand; the customer never sees it."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    text = f"Malformed access token {token('acme')}"
    house.platform.next_answers(faults.fails(401, 190, text))
    answer = await house.rest.ask("POST", SEND, asked)
    assert (answer.status_code, answer.json()["code"]) == (503, "platform_denied")
    assert "Malformed access token" in answer.text
    assert token("acme") not in answer.text


@pytest.mark.parametrize("fault", [faults.deaf(), faults.silent(), faults.fails(500)])
async def test_a_message_is_not_sent_twice(house: Messaging, fault: faults.Fault) -> None:
    """Whatever was answered: only who asked may ask again."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    house.platform.next_answers(faults.done_but(fault))
    assert (await house.rest.refused("POST", SEND, asked))[:2] == (503, "platform_down")
    assert len(house.platform.messages) == 1


async def test_asked_again_by_key_it_is_sent_once(house: Messaging) -> None:
    """The answer is the first one's."""
    made = await approved(house)
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    headers = {"Idempotency-Key": "k-1"}
    first = await house.rest.ask("POST", SEND, asked, headers=headers)
    again = await house.rest.ask("POST", SEND, asked, headers=headers)
    assert (first.status_code, again.json()) == (200, first.json())
    assert len(house.platform.messages) == 1


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
async def test_a_file_is_uploaded(house: Messaging, content: bytes, kind: str, mime: str) -> None:
    """As it is, in a session that knows its type and size; a template names it by its handle."""
    answer = await upload(house, content, kind, "../../odd näme?.png")
    assert answer.status_code == 200, answer.text
    (key,) = house.platform.files
    assert answer.json() == {
        "handle": f"4::{key}",
        "mediaKind": kind.lower(),
        "mimeType": mime,
        "size": len(content),
    }
    assert house.platform.files[key] == content
    assert house.platform.uploads[key] == {
        "file_length": str(len(content)),
        "file_type": mime,
        "file_name": ".._.._odd_n_me_.png",
    }
    assert house.platform.seen[0].path.endswith(f"/{APP}/uploads")


async def test_an_uploaded_header_is_used(house: Messaging) -> None:
    """Uploaded, made with, and sent with a file of its own."""
    handle = (await upload(house, PNG, "image")).json()["handle"]
    header = {"type": "HEADER", "format": "IMAGE", "example": {"header_handle": [handle]}}
    made = await approved(house, components=[header, *HELLO["components"]])
    asked = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    refused = await house.rest.refused("POST", SEND, asked)
    assert refused == (400, "value_missing", ["variableValues.header"])
    link = "https://example.com/a.png"
    await house.rest.post(SEND, **{**asked, "variableValues": {**VALUES, "header": link}})
    (first, _body) = house.platform.messages[0]["template"]["components"]
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
async def test_a_file_that_can_not_be(
    house: Messaging, content: bytes, kind: str, code: str, path: str
) -> None:
    """Known by its content, whatever it is called; nothing is sent on."""
    refused = await house.rest.refused(
        "POST", UPLOAD, files={"file": ("a.png", content)}, data={"mediaKind": kind}
    )
    assert refused == (400, code, [path])
    assert house.platform.seen == []


async def test_forms_that_are_none(house: Messaging) -> None:
    """A part that is missing is named; no form, two files or a broken one is 400."""
    one = {"file": ("a.png", PNG)}
    kind = {"mediaKind": "image"}
    assert (await house.rest.refused("POST", UPLOAD, files=one))[2] == ["mediaKind"]
    assert (await house.rest.refused("POST", UPLOAD, data=kind))[2] == ["file"]
    assert (await house.rest.refused("POST", UPLOAD, {"file": "x"}))[2] == ["file"]
    two = [("file", ("a", PNG)), ("more", ("b", PNG))]
    assert (await house.rest.refused("POST", UPLOAD, files=two, data=kind))[0] == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (b"--y\r\n", b"--x\r\nnonsense", b"x" * 1_000):
        assert (await house.rest.refused("POST", UPLOAD, body, headers=headers))[0] == 400
    whole = b'--x\r\nContent-Disposition: form-data; name="mediaKind"\r\n\r\n+2AA-\r\n--x--\r\n'
    for charset in ("undefined", "utf-7", "punycode"):
        headers = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
        assert (await house.rest.refused("POST", UPLOAD, whole, headers=headers))[0] == 400
    headers = {"Content-Type": "multipart/form-data"}
    assert (await house.rest.refused("POST", UPLOAD, b"--x", headers=headers))[0] == 400
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": "2000000000"}
    assert (await house.rest.refused("POST", UPLOAD, b"", headers=headers))[0] == 413
    assert house.platform.seen == []


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (faults.answers(b'{"id": "https://elsewhere.example/"}'), 503, "platform_down"),
        (faults.answers(b'{"id": "upload:/../../x"}'), 503, "platform_down"),
        (faults.limited({"Retry-After": "3"}), 429, "platform_rate_limit"),
        (faults.fails(400, 100), 400, "platform_100"),
    ],
)
async def test_an_upload_that_fails(
    house: Messaging, fault: faults.Fault, status: int, code: str
) -> None:
    """Told as it is; a session that leads elsewhere is not followed."""
    house.platform.next_answers(fault)
    answer = await upload(house, PNG, "image")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert house.platform.files == {}


async def test_without_an_app_nothing_is_uploaded(tmp_path: Path, bench: Bench) -> None:
    """The operator has to name one."""
    async with messaging(sqlite_url(tmp_path), bench, app_id=None) as house:
        answer = await upload(house, PNG, "image")
        assert (answer.status_code, answer.json()["code"]) == (503, "no_app")
