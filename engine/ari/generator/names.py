"""Names and types: what the description calls a thing, and what Python does."""

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
    """`channelId` becomes `channel_id`, `sendDTMF` `send_dtmf`; a keyword gets an underscore."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return f"{spaced}_" if keyword.iskeyword(spaced) else spaced


def function(name: str) -> str:
    """As `snake`, and clear of the builtins too: `list` becomes `list_`."""
    name = snake(name)
    return f"{name}_" if hasattr(builtins, name) else name


def annotation(described: str, allowed: Sequence[str] = ()) -> str:
    """Give the Python type of a described one; lists are of a described type too."""
    if allowed:
        return f"Literal[{', '.join(repr(value) for value in allowed)}]"
    if described.startswith("List["):
        return f"list[{annotation(described[5:-1])}]"
    return _SIMPLE.get(described, described)


def docstring(paragraphs: Sequence[str], indent: str) -> str:
    """Lay out paragraphs as a docstring at most 100 wide, each with its full stop."""
    width = 96 - len(indent)
    lines = [line for text in paragraphs for line in textwrap.wrap(_sentence(text), width)]
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""'
    body = "".join(f"{indent}{line}\n" for line in lines[1:])
    return f'{indent}"""{lines[0]}\n{body}{indent}"""'


def imports(code: str, available: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Write the import lines that the code needs, of the modules and names available to it."""
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
