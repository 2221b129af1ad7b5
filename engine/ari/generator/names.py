"""Converts names and types of the description to Python."""

import builtins
import keyword
import re
import textwrap
from collections.abc import Sequence

_SIMPLE = {
    "string": "str",
    "Date": "str",  # Asterisk writes +0000, which is not the RFC 3339 that msgspec reads
    "boolean": "bool",
    "int": "int",
    "long": "int",
    "double": "float",
    "object": "dict[str, Any]",
    "containers": "Mapping[str, Any]",
}


def snake(name: str) -> str:
    """Convert `channelId` to `channel_id`, `sendDTMF` to `send_dtmf`; mark keywords with `_`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return f"{spaced}_" if keyword.iskeyword(spaced) else spaced


def function(name: str) -> str:
    """Convert like `snake`, and avoid builtins too: `list` becomes `list_`."""
    name = snake(name)
    return f"{name}_" if hasattr(builtins, name) else name


def annotation(described: str, allowed: Sequence[str] = ()) -> str:
    """Return the Python type of a described type, or of a list of one."""
    if allowed:
        return f"Literal[{', '.join(repr(value) for value in allowed)}]"
    if described.startswith("List["):
        return f"list[{annotation(described[5:-1])}]"
    return _SIMPLE.get(described, described)


def docstring(paragraphs: Sequence[str], indent: str) -> str:
    """Format paragraphs as a docstring at most 100 wide, each ending with a full stop."""
    width = 96 - len(indent)
    lines = [line for text in paragraphs for line in textwrap.wrap(_sentence(text), width)]
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""'
    body = "".join(f"{indent}{line}\n" for line in lines[1:])
    return f'{indent}"""{lines[0]}\n{body}{indent}"""'


def imports(code: str, available: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Render the imports that the code needs from the available modules and names."""
    bare = re.sub(r'""".*?"""', "", code, flags=re.DOTALL)
    used = [
        (module, [name for name in names if re.search(rf"\b{name}\b", bare)])
        for module, names in available
    ]
    return "\n".join(_import(module, names) for module, names in used if names)


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    listed = "".join(f"    {name},\n" for name in names)
    return line if len(line) <= 100 else f"from {module} import (\n{listed})"  # noqa: PLR2004 - the line length


def _sentence(text: str) -> str:
    clean = " ".join(text.replace("\\", "\\\\").replace('"', "'").split())
    return clean if clean.endswith((".", "!")) else f"{clean}."
