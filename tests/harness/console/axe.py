"""axe-core in the page of a test: the rules of WCAG 2.2, levels A and AA, and best practices."""

import asyncio
from typing import Any, Literal, LiteralString

import pytest
from playwright.async_api import Page

from tests.harness.npm import CONSOLE, install_locked

THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
_AXE = CONSOLE / "node_modules/axe-core/axe.min.js"
_RUN: LiteralString = """
async () => {
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await axe.run(document, {
    runOnly: { type: "tag", values }, resultTypes: ["violations"],
  });
  return found.violations.map(({ id, help, nodes }) => ({
    id, help, nodes: nodes.map(({ html, failureSummary }) => `${html}\\n  ${failureSummary}`),
  }));
}
"""


async def assert_accessible(page: Page) -> None:
    """Fail with each element that breaks a rule, in the theme that is shown.

    Skips the test where axe-core cannot be installed, so call it last.
    """
    if reason := await asyncio.to_thread(install_locked, CONSOLE):
        pytest.skip(reason)
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_AXE.read_text())  # as a debugger does: no content policy applies
    violations: list[dict[str, Any]] = await page.evaluate(_RUN)
    assert violations == [], "\n".join(_describe(each) for each in violations)


async def assert_accessible_in_both_themes(page: Page) -> None:
    """Fail with each element that breaks a rule in one of the themes; the light one is shown last.

    The page follows the browser's theme unless a person has chosen another one.
    """
    for theme in THEMES:
        await page.emulate_media(color_scheme=theme)
        await assert_accessible(page)


def _describe(violation: dict[str, Any]) -> str:
    return "\n".join((f"{violation['id']}: {violation['help']}", *violation["nodes"]))
