"""Renders the operations of one resource as functions that return a request."""

from collections.abc import Iterable, Sequence

from engine.ari.generator.description import Api, Operation, Parameter, Resource
from engine.ari.generator.names import annotation, docstring, function, imports, snake

_AVAILABLE = (
    ("collections.abc", ("Mapping",)),
    ("typing", ("Any", "Literal")),
    ("engine.ari.request", ("Request", "given", "segment", "several")),
)


def render_operations(resource: Resource) -> str:
    """Render one function for each operation; a websocket handshake is no operation."""
    functions = [
        _function(api, operation)
        for api in resource.apis
        for operation in api.operations
        if not operation.upgrade
    ]
    code = "\n\n\n".join(functions)
    return f"{imports(code, _AVAILABLE)}\n\n\n{code}\n"


def _function(api: Api, operation: Operation) -> str:
    arguments = "".join(f"    {line},\n" for line in _signature(operation.parameters))
    listed = f"\n{arguments}" if arguments else ""
    parts = "".join(f"        {part},\n" for part in _request(api, operation))
    return (
        f"def {function(operation.nickname)}({listed}) -> Request:\n"
        f"{_documentation(operation)}\n"
        f"    return Request(\n{parts}    )"
    )


def _signature(parameters: Iterable[Parameter]) -> list[str]:
    path = [_argument(one) for one in parameters if one.param_type == "path"]
    named = [one for one in parameters if one.param_type != "path"]
    named.sort(key=lambda one: not one.required)
    return path + (["*", *map(_argument, named)] if named else [])


def _argument(parameter: Parameter) -> str:
    kind = annotation(parameter.data_type, parameter.allowable_values.values)
    if parameter.param_type == "body":
        kind = "Mapping[str, Any]" if parameter.name != "fields" else "list[dict[str, str]]"
    if parameter.allow_multiple:
        kind = f"list[{kind}] | tuple[{kind}, ...]"
    optional = not parameter.required and parameter.param_type != "path"
    return f"{snake(parameter.name)}: {kind}{' | None = None' if optional else ''}"


def _documentation(operation: Operation) -> str:
    described = [one for one in operation.parameters if one.description]
    failures = [f"{one.code} {one.reason.rstrip('.')}" for one in operation.error_responses]
    paragraphs = [
        operation.summary or operation.nickname,
        operation.notes,
        *(f"`{snake(one.name)}`: {one.description}" for one in described),
        f"Reply: {operation.response_class}",
        f"Failures: {'; '.join(failures)}" if failures else "",
    ]
    return docstring([text for text in paragraphs if text], "    ")


def _request(api: Api, operation: Operation) -> list[str]:
    query = [one for one in operation.parameters if one.param_type == "query"]
    body = [one for one in operation.parameters if one.param_type == "body"]
    pairs = "".join(f"            {_pair(one)},\n" for one in query)
    return [
        f'"{operation.http_method}"',
        _path(api.path, operation.parameters),
        *([f"given(\n{pairs}        )"] if query else []),
        *(f"body={_body(one)}" for one in body),
    ]


def _path(path: str, parameters: Sequence[Parameter]) -> str:
    text = path.removeprefix("/")
    for one in parameters:
        text = text.replace(f"{{{one.name}}}", f"{{segment({snake(one.name)})}}")
    return f'f"{text}"' if "{" in text else f'"{text}"'


def _pair(parameter: Parameter) -> str:
    name = snake(parameter.name)
    if not parameter.allow_multiple:
        return f'("{parameter.name}", {name})'
    value = f"several({name})" if parameter.required else f"several({name}) if {name} else None"
    return f'("{parameter.name}", {value})'


def _body(parameter: Parameter) -> str:
    # A parameter of type `containers` is nested under its name; an `object` is the whole body.
    name = snake(parameter.name)
    nested = f'{{"{parameter.name}": {name}}}'
    whole = f"dict({name})" if parameter.data_type == "object" else nested
    return whole if parameter.required else f"None if {name} is None else {whole}"
