"""What the messaging platform's double keeps of templates, and what it refuses of them."""

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
        """Keep one as if it had been there for long."""
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
        """Find one by what a message names it with."""
        for each in self.all.values():
            if (each["name"], each["language"]) == (name, language):
                return each
        return None

    def create(self, asked: dict[str, Any], template_id: str) -> web.Response:
        """Make one, unless something is wrong with it."""
        for field in ("name", "language", "category", "components"):
            if not asked.get(field):
                return error(400, 100, f"The parameter {field} is required.")
        if self.find(asked["name"], asked["language"]):
            text = "There is already English (US) content for this template."
            return error(400, 100, "Invalid parameter", error_subcode=EXISTS, error_user_msg=text)
        if refusal := missing_example(asked["components"]):
            return refusal
        self.put(template_id, **asked, status="PENDING")
        told = {"id": template_id, "status": "PENDING", "category": asked["category"]}
        return web.json_response(told)

    def edit(self, template_id: str, asked: dict[str, Any]) -> web.Response:
        """Change one, which is looked at again then."""
        if refusal := missing_example(asked.get("components", [])):
            return refusal
        self.all[template_id] |= {**asked, "status": "PENDING"}
        return web.json_response({"success": True})

    def delete(self, name: str, template_id: str) -> web.Response:
        """Take one away, or all of a name."""
        gone = [
            key
            for key, each in self.all.items()
            if each["name"] == name and template_id in {"", key}
        ]
        if not gone:
            text = f"The message template {name} wasn't found for this account."
            return error(400, 100, "Invalid parameter", error_subcode=MISSING, error_user_msg=text)
        for key in gone:
            del self.all[key]
        return web.json_response({"success": True})

    def page(self, query: dict[str, str], url: str) -> web.Response:
        """Give a page: cursors both ways, and `next` where there is more."""
        limit, after = int(query.get("limit", DEFAULT_ROWS)), query.get("after", "")
        rows = [each for each in self.all.values() if query.get("name", "") in each["name"]]
        begin = int(after.removeprefix("cursor")) if after else 0
        shown = rows[begin : begin + limit]
        fields = {"id", *query.get("fields", "name,status,category,language").split(",")}
        end = begin + len(shown)
        paging: dict[str, Any] = {"cursors": {"before": f"cursor{begin}", "after": f"cursor{end}"}}
        if end < len(rows):
            paging["next"] = f"{url}?after=cursor{end}"
        data = [{name: each[name] for name in each.keys() & fields} for each in shown]
        return web.json_response({"data": data, "paging": paging} if data else {"data": []})


def missing_example(components: list[dict[str, Any]]) -> web.Response | None:
    """Refuse placeholders without an example, as the platform's review does."""
    for each in components:
        if _PLACEHOLDER.search(each.get("text", "")) and "example" not in each:
            text = f"component of type {each['type']} is missing expected field(s) (example)"
            return error(
                400, 100, "Invalid parameter", error_subcode=NO_EXAMPLE, error_user_msg=text
            )
    return None


def placeholders(template: dict[str, Any]) -> int:
    """Count the placeholders of a body."""
    bodies = [each for each in template["components"] if each["type"] == "BODY"]
    return sum(len(set(_PLACEHOLDER.findall(each.get("text", "")))) for each in bodies)
