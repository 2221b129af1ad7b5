"""The generator turns a description into shapes and requests, the same each time."""

import ast
from pathlib import Path
from typing import Any

import pytest

from engine.ari.generator.description import parse, read
from engine.ari.generator.names import function, snake
from engine.ari.generator.write import render, write

RESOURCE = b"""{
  "apis": [{"path": "/things/{thingId}", "operations": [
    {"httpMethod": "POST", "nickname": "sendDTMF", "summary": "Send digits",
     "responseClass": "void", "parameters": [
       {"name": "thingId", "paramType": "path", "dataType": "string", "required": true},
       {"name": "from", "paramType": "query", "dataType": "string", "required": false},
       {"name": "how", "paramType": "query", "dataType": "string", "required": false,
        "allowableValues": {"valueType": "LIST", "values": ["in", "out"]}},
       {"name": "media", "paramType": "query", "dataType": "string", "required": true,
        "allowMultiple": true},
       {"name": "skipms", "paramType": "query", "dataType": "int", "required": false,
        "defaultValue": 0, "allowableValues": {"valueType": "RANGE", "min": 0}},
       {"name": "variables", "paramType": "body", "dataType": "containers", "required": false}],
     "errorResponses": [{"code": "404", "reason": "None."}, {"code": 409, "reason": "Busy"}]},
    {"httpMethod": "GET", "nickname": "eventWebsocket", "upgrade": "websocket"}]},
    {"path": "/things", "operations": [
    {"httpMethod": "GET", "nickname": "list", "responseClass": "List[Thing]"}]}],
  "models": {
    "Message": {"id": "Message", "discriminator": "type", "subTypes": ["Event"],
      "properties": {"type": {"type": "string", "required": true}}},
    "Event": {"id": "Event", "subTypes": ["Made", "Gone"],
      "properties": {"at": {"type": "Date", "required": true}}},
    "Made": {"id": "Made", "description": "A thing is there.",
      "properties": {"thing": {"type": "Thing", "required": true}}},
    "Gone": {"id": "Gone", "properties": {"why": {"type": "int"}}},
    "Thing": {"id": "Thing", "properties": {
      "from": {"type": "string", "required": true},
      "parts": {"type": "List[Part]", "required": false}}},
    "Part": {"id": "Part", "properties": {"size": {"type": "double", "required": true}}}}
}"""


def _files() -> dict[str, str]:
    return render({"thingsOf": parse(RESOURCE)}, "1.2.3")


def _run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(code, "generated", "exec"), names)  # noqa: S102 - running it is the test
    return names


def test_operations_become_functions_that_return_requests() -> None:
    """Path, query and body parameters go where they belong; names are Python's."""
    names = _run(_files()["operations/things_of.py"])
    request = names["send_dtmf"]("a/b", media=["x", "y"], from_="z", skipms=0, variables={"A": 1})
    assert (request.method, request.path) == ("POST", "things/a%2Fb")
    assert request.query == (("from", "z"), ("media", "x,y"), ("skipms", "0"))
    assert request.body == {"variables": {"A": 1}}
    assert names["list_"]().uri == "things"


def test_values_and_failures_are_written_down() -> None:
    """Allowed values are a Literal; failures are in the docstring, whatever their codes are."""
    code = _files()["operations/things_of.py"]
    assert "how: Literal['in', 'out'] | None = None," in code
    assert "Failures: 404 None; 409 Busy." in code
    assert "websocket" not in code


def test_messages_are_one_tagged_union() -> None:
    """Subtypes inherit their base's fields; the discriminator becomes the tag."""
    code = _files()["events.py"]
    root = (
        'class MessageBase(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="type"'
    )
    assert root in code
    assert "class Made(EventBase, frozen=True, kw_only=True, gc=False, tag=True):" in code
    assert "Event = (\n    Gone\n    | Made\n)" in code
    assert "import Thing" in code
    assert "type: str" not in code


def test_models_say_what_may_be_missing() -> None:
    """A required field has no default; a keyword gets another name, not so on the wire."""
    code = _files()["models.py"]
    assert 'from_: str = field(name="from")' in code
    assert "parts: list[Part] | None = None" in code


def test_the_same_description_gives_the_same_files(tmp_path: Path) -> None:
    """Two runs are equal, each file is Python, and what is no longer generated goes away."""
    assert _files() == _files()
    for text in _files().values():
        ast.parse(text)
    write({"old.py": "", **_files()}, tmp_path)
    write(_files(), tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.py")}
    assert found == set(_files())


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """A wrong path does not quietly generate nothing."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("channelId", "channel_id"), ("sendDTMF", "send_dtmf"), ("from", "from_"), ("app", "app")],
)
def test_names_are_snake_case(name: str, expected: str) -> None:
    """Words are parted at their capitals; a keyword gets an underscore."""
    assert snake(name) == expected
    assert function("list") == "list_"
