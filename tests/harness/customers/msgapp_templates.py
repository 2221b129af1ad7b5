"""Templates of the simulated messaging platform, with its validation."""

import re
from typing import Any

from aiohttp import web

from tests.harness.customers.msgapp_faults import error

_PLACEHOLDER = re.compile(r"\{\{[^{}]+\}\}")
EXISTS, NO_EXAMPLE, MISSING = 2388024, 2388043, 2593002
DEFAULT_ROWS = 25


class PlatformTemplates:
    """One business account's templates, oldest first."""

    def __init__(self) -> None:
        self.all: dict[str, dict[str, Any]] = {}

    def put(self, template_id: str, **fields: Any) -> dict[str, Any]:
        """Store a template without validation."""
        known = {
            "name": "hello",
            "language": "en_US",
            "status": "APPROVED",
            "category": "UTILITY",
            "components": [{"type": "BODY", "text": "Hello."}],
            "parameter_format": "POSITIONAL",
            "rejected_reason": "NONE",
        }
        self.all[template_id] = {"id": template_id, **known, **fields}
        return self.all[template_id]

    def find(self, name: str, language: str) -> dict[str, Any] | None:
        """Return the template of a name and language, if any."""
        for each in self.all.values():
            if (each["name"], each["language"]) == (name, language):
                return each
        return None

    def create(self, fields: dict[str, Any], template_id: str) -> web.Response:
        """Create a template, or answer with an error."""
        for field in ("name", "language", "category", "components"):
            if not fields.get(field):
                return error(400, 100, f"The parameter {field} is required.")
        if self.find(fields["name"], fields["language"]):
            text = "There is already English (US) content for this template."
            return error(400, 100, "Invalid parameter", error_subcode=EXISTS, error_user_msg=text)
        if refusal := missing_example(fields["components"]):
            return refusal
        self.put(template_id, **fields, status="PENDING")
        created = {"id": template_id, "status": "PENDING", "category": fields["category"]}
        return web.json_response(created)

    def edit(self, template_id: str, fields: dict[str, Any]) -> web.Response:
        """Change a template; it becomes PENDING again."""
        if refusal := missing_example(fields.get("components", [])):
            return refusal
        self.all[template_id] |= {**fields, "status": "PENDING"}
        return web.json_response({"success": True})

    def delete(self, name: str, template_id: str) -> web.Response:
        """Delete one template, or all templates of a name."""
        matching = [
            key
            for key, each in self.all.items()
            if each["name"] == name and template_id in {"", key}
        ]
        if not matching:
            text = f"The message template {name} wasn't found for this account."
            return error(400, 100, "Invalid parameter", error_subcode=MISSING, error_user_msg=text)
        for key in matching:
            del self.all[key]
        return web.json_response({"success": True})

    def page(self, query: dict[str, str], url: str) -> web.Response:
        """Return a page with both cursors, and `next` unless it is the last."""
        limit, after = int(query.get("limit", DEFAULT_ROWS)), query.get("after", "")
        rows = [each for each in self.all.values() if query.get("name", "") in each["name"]]
        first = int(after.removeprefix("cursor")) if after else 0
        shown = rows[first : first + limit]
        fields = {"id", *query.get("fields", "name,status,category,language").split(",")}
        end = first + len(shown)
        paging: dict[str, Any] = {"cursors": {"before": f"cursor{first}", "after": f"cursor{end}"}}
        if end < len(rows):
            paging["next"] = f"{url}?after=cursor{end}"
        data = [{name: each[name] for name in each.keys() & fields} for each in shown]
        return web.json_response({"data": data, "paging": paging} if data else {"data": []})


def missing_example(components: list[dict[str, Any]]) -> web.Response | None:
    """Return an error for a component whose placeholders have no example, else None."""
    for each in components:
        if _PLACEHOLDER.search(each.get("text", "")) and "example" not in each:
            text = f"component of type {each['type']} is missing expected field(s) (example)"
            return error(
                400, 100, "Invalid parameter", error_subcode=NO_EXAMPLE, error_user_msg=text
            )
    return None


def placeholders(template: dict[str, Any]) -> int:
    """Return the number of different placeholders in the body."""
    bodies = [each for each in template["components"] if each["type"] == "BODY"]
    return sum(len(set(_PLACEHOLDER.findall(each.get("text", "")))) for each in bodies)
