"""Renders the models, and the messages as a tagged union."""

from collections.abc import Mapping

from engine.ari.generator.description import Model, Property
from engine.ari.generator.names import annotation, docstring, imports, snake

_FROZEN = "frozen=True, kw_only=True, gc=False"
_AVAILABLE = (("typing", ("Any", "Literal")), ("msgspec", ("Struct", "field")))
# States that Asterisk sends and its description omits (22.10.1, res_stasis_playback.c).
_UNDESCRIBED = {("Playback", "state"): ("paused",)}


def render_models(models: Mapping[str, Model]) -> str:
    """Render a struct for each model that is no message."""
    messages = set(_messages(models))
    structs = [
        _struct(model, f"Struct, {_FROZEN}")
        for name, model in models.items()
        if name not in messages
    ]
    code = "\n\n\n".join(structs)
    # Models refer to one another in any order, so annotations must be evaluated late.
    first = "from __future__ import annotations\n\n"
    return f"{first}{imports(code, _AVAILABLE)}\n\n\n{code}\n"


def render_messages(models: Mapping[str, Model]) -> str:
    """Render a tagged struct for each message, and a union for each model with subtypes."""
    messages = [models[name] for name in _messages(models)]
    structs = [_message(model, models) for model in messages]
    unions = [_union(model) for model in reversed(messages) if model.sub_types]
    code = "\n\n\n".join(structs + unions)
    shapes = ("engine.ari.generated.models", sorted(set(models) - {one.id for one in messages}))
    return f"{imports(code, (*_AVAILABLE, shapes))}\n\n\n{code}\n"


def _messages(models: Mapping[str, Model]) -> list[str]:
    roots = [model for model in models.values() if model.discriminator]
    return [name for root in roots for name in _family(root, models)]


def _family(model: Model, models: Mapping[str, Model]) -> list[str]:
    below = [name for sub in sorted(model.sub_types) for name in _family(models[sub], models)]
    return [model.id, *below]


def _message(model: Model, models: Mapping[str, Model]) -> str:
    if model.discriminator:
        return _struct(model, f'Struct, {_FROZEN}, tag=True, tag_field="{model.discriminator}"')
    parent = next(other.id for other in models.values() if model.id in other.sub_types)
    return _struct(model, f"{parent}Base, {_FROZEN}, tag=True")


def _struct(model: Model, bases: str) -> str:
    name = f"{model.id}Base" if model.sub_types else model.id
    lines = [f"class {name}({bases}):", docstring([model.description or model.id], "    ")]
    for key, prop in model.properties.items():
        if key != model.discriminator:
            lines += ["", *_field(model.id, key, prop)]
    return "\n".join(lines)


def _field(model: str, key: str, prop: Property) -> list[str]:
    allowed = prop.allowable_values.values + _UNDESCRIBED.get((model, key), ())
    line = f"    {snake(key)}: {annotation(prop.type, allowed)}{_default(key, prop)}"
    return [line, docstring([prop.description], "    ")] if prop.description else [line]


def _default(key: str, prop: Property) -> str:
    renamed = snake(key) != key
    if prop.required:
        return f' = field(name="{key}")' if renamed else ""
    return f' | None = field(default=None, name="{key}")' if renamed else " | None = None"


def _union(model: Model) -> str:
    members = "\n    | ".join(sorted(model.sub_types))
    return f"{model.id} = (\n    {members}\n)"
