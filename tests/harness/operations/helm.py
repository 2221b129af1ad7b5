"""Renders the few kinds of actions that the chart's templates have; any other is an error.

- `{{ .Values.a.b }}`, `{{ .Values.a.b | quote }}`, `{{- toYaml .Values.a | nindent 12 }}`
- `{{- if .Values.a }} … {{- end }}`
- `{{- range .Values.a }} … {{ . }} … {{- end }}`
- `{{- range $name, $value := .Values.a }} … {{ $name }} … {{ $value | quote }} … {{- end }}`
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[3] / "docs/operations/helm/switchroom"
_ACTION = re.compile(r"\s*\{\{- (?P<trimmed>.*?) \}\}|\{\{ (?P<plain>.*?) \}\}", re.DOTALL)
_BLOCK = re.compile(r"(?P<kind>if|range(?: \$name, \$value :=)?) \.Values\.(?P<path>[\w.]+)")
_YAML = re.compile(r"toYaml \.Values\.(?P<path>[\w.]+) \| nindent (?P<indent>\d+)")
_VALUE = re.compile(r"\.Values\.(?P<path>[\w.]+)(?P<quote> \| quote)?")
_Pieces = Iterator[tuple[str, str]]  # an action, and the text after it


def values() -> dict[str, Any]:
    """Return the default values."""
    found: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return found


def rendered(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all objects of the chart."""
    return [
        each
        for path in sorted((CHART / "templates").iterdir())
        for each in yaml.safe_load_all(render(path.read_text(), given))
        if each is not None
    ]


def render(template: str, given: Mapping[str, Any]) -> str:
    """Render a template; raises ValueError for an action of another kind."""
    actions = [*_ACTION.finditer(template)]
    starts = [0, *(each.end() for each in actions)]
    ends = [*(each.start() for each in actions), len(template)]
    first, *texts = (template[start:end] for start, end in zip(starts, ends, strict=True))
    names = [each["trimmed"] or each["plain"] for each in actions]
    return first + _rendered(iter(zip(names, texts, strict=True)), given, {})


def used_values() -> set[str]:
    """Return the paths of all values that templates name."""
    texts = [path.read_text() for path in (CHART / "templates").iterdir()]
    return {name for text in texts for name in re.findall(r"\.Values\.([\w.]+)", text)}


def _rendered(pieces: _Pieces, given: Mapping[str, Any], local: Mapping[str, str]) -> str:
    made = ""
    for action, text in pieces:
        if block := _BLOCK.fullmatch(action):
            body = _taken(pieces)
            inner = "".join(
                text + _rendered(iter(body[:-1]), given, each)
                for each in _rounds(block["kind"], _at(given, block["path"]), local)
            )
            made += inner + body[-1][1]
        else:
            made += _substituted(action, given, local) + text
    return made


def _taken(pieces: _Pieces) -> list[tuple[str, str]]:
    """Return the pieces of a block, its end included."""
    depth, found = 1, []
    for action, text in pieces:
        found.append((action, text))
        depth += (_BLOCK.fullmatch(action) is not None) - (action == "end")
        if not depth:
            break
    return found


def _rounds(kind: str, value: Any, local: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the names of each time that a block is rendered."""
    if kind == "if":
        if value:
            yield local
    elif isinstance(value, dict):
        for name, each in sorted(value.items()):
            yield {"$name": name, "$value | quote": json.dumps(str(each))}
    else:
        for each in value:
            yield {".": str(each)}


def _substituted(action: str, given: Mapping[str, Any], local: Mapping[str, str]) -> str:
    if action in local:
        return local[action]
    if found := _YAML.fullmatch(action):
        lines = yaml.safe_dump(_at(given, found["path"])).splitlines()
        return "".join("\n" + " " * int(found["indent"]) + line for line in lines)
    if found := _VALUE.fullmatch(action):
        value = str(_at(given, found["path"]))
        return json.dumps(value) if found["quote"] else value
    raise ValueError(action)


def _at(given: Mapping[str, Any], path: str) -> Any:
    found: Any = given
    for name in path.split("."):
        found = found[name]
    return found
