"""Source of the TypeScript SDK's REST client: types, and methods of resources."""

import re
from collections.abc import Iterable, Iterator

from tools.docs.sdk.rest_operations import OPAQUE, Field, Operation, RestApi
from tools.docs.sdk.schema_reading import Schema, pascal, reachable
from tools.docs.sdk.sources import verb_schemas, webhook_schemas
from tools.docs.sdk.typescript_types import (
    OBJECT,
    TypeScriptTypes,
    comment,
    interfaces,
    key_of,
)
from tools.docs.sdk.typescript_verbs import GENERATED


def models_source(api: RestApi) -> str:
    """Return the source of the module of results and arguments."""
    shared = {**verb_schemas()[2], **webhook_schemas()}
    arguments = _arguments(api)
    results = {
        name: each
        for name, each in api.results().items()
        if name not in arguments and shared.get(name) != each
    }
    body = [
        *interfaces(arguments, TypeScriptTypes(has_words=True, action="ActionInput")),
        *interfaces(results, TypeScriptTypes(has_words=False, opaque=OPAQUE)),
    ]
    own = {*arguments, *results}
    names = [each for each in sorted({"Word", *shared} - own) if _is_used(each, body)]
    inputs = [each for each in ("ActionInput", "VerbInput") if _is_used(each, body)]
    lines = [GENERATED, "", f'import type {{ {", ".join(inputs)} }} from "../chain.js";']
    lines += [f'import type {{ {", ".join(names)} }} from "./types.js";', "", *body]
    return "\n".join(lines).rstrip() + "\n"


def _is_used(name: str, lines: Iterable[str]) -> bool:
    """Whether a field has a type of this name; comments and texts do not count."""
    used = re.compile(rf"\b{name}\b")
    fields = (each for each in lines if not each.lstrip().startswith(("*", "/**")))
    return any(used.search(re.sub(r'"[^"]*"', "", each.partition(": ")[2])) for each in fields)


def _arguments(api: RestApi) -> dict[str, Schema]:
    """Return the components of bodies, and what they refer to, but for verbs."""
    names = {each.body_name for each in api.operations if each.body_name and not each.is_document}
    verbs = verb_schemas()[2]
    found = reachable(names, api.components)
    return {name: each for name, each in found.items() if name not in verbs}


def resources_source(api: RestApi) -> str:
    """Return the source of the module of resources."""
    lines = [GENERATED, ""]
    lines += ['import { Paginator, type ListOptions } from "../paging.js";']
    lines += ['import type { RequestOptions, Sender } from "../request.js";']
    lines += ['import type * as models from "./models.js";', ""]
    for resource, operations in api.resources().items():
        lines += [f"/** Operations on {resource}. */", f"export class {pascal(resource)} {{"]
        lines += ["  readonly #client: Sender;", ""]
        lines += ["  constructor(client: Sender) {", "    this.#client = client;", "  }", ""]
        for operation in operations:
            lines += [*_Method(operation).source(), ""]
        lines[-1] = "}"
        lines.append("")
    lines += ["/** The resources of a client. */", "export class Resources {"]
    lines += [f"  readonly {each}: {pascal(each)};" for each in api.resources()]
    lines += ["", "  constructor(client: Sender) {"]
    lines += [f"    this.{each} = new {pascal(each)}(client);" for each in api.resources()]
    lines += ["  }", "}"]
    return "\n".join(lines).rstrip() + "\n"


class _Method:
    def __init__(self, operation: Operation) -> None:
        self._types = TypeScriptTypes(has_words=True, opaque=OPAQUE)
        self._operation = operation

    def source(self) -> Iterator[str]:
        operation = self._operation
        text = operation.summary.rstrip(".") + "."
        if operation.description and operation.description.rstrip(".") + "." != text:
            text += "\n\n" + operation.description
        yield from comment(text, 2)
        yield f"  {_camel(operation.method)}({', '.join(self._parameters())}): {self._result()} {{"
        yield f"    const request = {{ {', '.join(self._request())} }};"
        if operation.is_list:
            yield "    return new Paginator(this.#client, request, options);"
        else:
            yield "    return this.#client.send(request, options);"
        yield "  }"

    def _parameters(self) -> Iterator[str]:
        operation = self._operation
        for each in operation.in_path:
            is_number = each.schema.get("type") == "integer"
            yield f"{each.name}: {'string | number' if is_number else 'string'}"
        if operation.is_document:
            yield f"document: {OBJECT}"
        elif operation.body_name is not None:
            names = {each.name for each in operation.in_path}
            hidden = " | ".join(f'"{each}"' for each in sorted(names))
            kind = f"models.{operation.body_name}"
            kind = f"Omit<{kind}, {hidden}>" if names else kind
            is_optional = not any(each.is_required for each in operation.body)
            yield f"body: {kind}{' = {}' if is_optional else ''}"
        if operation.query:
            members = "; ".join(self._member(each) for each in operation.query)
            is_optional = not any(each.is_required for each in operation.query)
            yield f"query: {{ {members} }}{' = {}' if is_optional else ''}"
        yield f"options: {'ListOptions' if operation.is_list else 'RequestOptions'} = {{}}"

    def _member(self, field: Field) -> str:
        kind = self._types.written(field.schema).removesuffix(" | null")
        return f"{key_of(field.name)}{'' if field.is_required else '?'}: {kind}"

    def _result(self) -> str:
        operation = self._operation
        if operation.is_list:
            return f"Paginator<models.{operation.item}, models.{operation.result}>"
        return f"Promise<{f'models.{operation.result}' if operation.result else 'void'}>"

    def _request(self) -> Iterator[str]:
        operation = self._operation
        names = {each.name for each in operation.in_path}
        parts = [part.strip("{}") for part in operation.path.strip("/").split("/")]
        segments = ", ".join(each if each in names else f'"{each}"' for each in parts)
        yield f'method: "{operation.verb}"'
        yield f"path: [{segments}]"
        if operation.is_document:
            yield "body: document"
        elif operation.body_name is not None:
            yield "body"
        if operation.query:
            empty = [f'{key_of(each.name)}: ""' for each in operation.query if each.is_sent_empty]
            yield f"query: {{ {', '.join([*empty, '...query'])} }}"
        if operation.is_idempotent:
            yield "isIdempotent: true"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(pascal(each) for each in rest)
