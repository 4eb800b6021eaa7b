"""The player in a real Chromium: what a user can do and see."""

from __future__ import annotations

from typing import Any

READY_MS = 60_000


class Shown:
    """A recording in the player, with the actions and views of a user."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.console: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def ready(self) -> Shown:
        self.page.wait_for_selector("html[data-ready]", timeout=READY_MS)
        return self

    @property
    def position(self) -> int:
        return self.page.evaluate("gpukitPlayer.replay.position")

    @property
    def choice(self) -> dict[str, int]:
        return self.page.evaluate("gpukitPlayer.choice")

    @property
    def announcement(self) -> str:
        return self.page.locator("#said").text_content()

    def keys(self, *names: str) -> Shown:
        for name in names:
            self.page.keyboard.press(name)
        return self

    def click(self, selector: str) -> Shown:
        self.page.click(selector)
        return self

    def go_to(self, position: int) -> Shown:
        self.page.evaluate("position => gpukitPlayer.goTo(position, true)", position)
        return self

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def seen(self, selector: str) -> bool:
        return self.page.locator(selector).is_visible()

    def cell(self, array: int, index: int) -> dict[str, str]:
        """Return the attributes and the text of an element's cell."""
        return self.page.locator(f"#cell-{array}-{index}").evaluate(
            "cell => ({...cell.dataset, text: cell.textContent, label: cell.ariaLabel})"
        )
