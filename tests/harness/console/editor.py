"""What a person does in the console's JSON editor."""

import json

from playwright.async_api import Locator, Page


def editor(page: Page, name: str) -> Locator:
    """Return the text of an editor, which is in a shadow tree."""
    return page.get_by_role("textbox", name=name)


async def replace_text(page: Page, name: str, document: object) -> None:
    """Select all and paste; a text is pasted as it is."""
    text = document if isinstance(document, str) else json.dumps(document, indent=2)
    await editor(page, name).click()
    await page.keyboard.press("Control+A")
    await page.keyboard.insert_text(text)
