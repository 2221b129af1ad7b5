"""The trunks of an engine's settings: dial strings of numbers, by name, the first one first."""

from collections.abc import Mapping, Sequence


def trunk_templates(first: str, further: Sequence[str]) -> Mapping[str, str]:
    """Return the templates; those of further trunks differ from the first in their name."""
    name = trunk_name(first)
    return {name: first} | {each: _renamed(first, name, each) for each in further}


def trunk_name(trunk_endpoint: str) -> str:
    """Return the trunk's endpoint name, as the dial string of a number contains it."""
    _, _, resource = trunk_endpoint.partition("/")
    return resource.partition("/")[0] if "/" in resource else resource.rpartition("@")[2]


def _renamed(template: str, name: str, other: str) -> str:
    tech, _, resource = template.partition("/")
    if "/" in resource:
        return f"{tech}/{other}/{resource.partition('/')[2]}"
    return f"{template.removesuffix(name)}{other}"
