"""Renders the few kinds of actions that the chart's templates have; any other is an error.

- `{{ .Values.a.b }}`, `{{ .Values.a.b | quote }}`, `{{- toYaml .Values.a | nindent 12 }}`
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
_RANGE = re.compile(
    r"\s*\{\{- range (?:\$name, \$value := )?\.Values\.([\w.]+) \}\}(.*?)\s*\{\{- end \}\}",
    re.DOTALL,
)
_BLOCK = re.compile(r"\s*\{\{- toYaml \.Values\.([\w.]+) \| nindent (\d+) \}\}")
_VALUE = re.compile(r"\{\{ \.Values\.([\w.]+)( \| quote)? \}\}")


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
    ]


def render(template: str, given: Mapping[str, Any]) -> str:
    """Render a template; raises ValueError if an action is left over."""
    text = _RANGE.sub(lambda found: "".join(_items(_at(given, found[1]), found[2])), template)
    text = _BLOCK.sub(lambda found: _block(_at(given, found[1]), int(found[2])), text)
    text = _VALUE.sub(lambda found: _text(_at(given, found[1]), found[2]), text)
    if "{{" in text:
        raise ValueError(text[text.index("{{") :].splitlines()[0])
    return text


def used_values() -> set[str]:
    """Return the paths of all values that templates name."""
    texts = [path.read_text() for path in (CHART / "templates").iterdir()]
    return {name for text in texts for name in re.findall(r"\.Values\.([\w.]+)", text)}


def _at(given: Mapping[str, Any], path: str) -> Any:
    found: Any = given
    for name in path.split("."):
        found = found[name]
    return found


def _items(found: Any, body: str) -> Iterator[str]:
    if isinstance(found, dict):
        for name, value in sorted(found.items()):
            yield body.replace("{{ $name }}", name).replace(
                "{{ $value | quote }}", json.dumps(str(value))
            )
    else:
        for value in found:
            yield body.replace("{{ . }}", str(value))


def _block(found: Any, indent: int) -> str:
    lines = yaml.safe_dump(found).splitlines()
    return "".join("\n" + " " * indent + line for line in lines)


def _text(found: Any, quote: str) -> str:
    return json.dumps(str(found)) if quote else str(found)
