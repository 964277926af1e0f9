"""What is wrong with a page in a browser: dialogs, script errors, sideways scrolling, barriers."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Dialog, Error, Page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


class Faults:
    """Collects what goes wrong on a page from now on. A dialog is an injected script: ours open none."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("pageerror", self._error)

    def _dialog(self, dialog: Dialog) -> None:
        self.found.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 4" not in message.text:
            self.found.append(f"console: {message.text}")

    def _error(self, error: Error) -> None:
        self.found.append(f"script: {error}")


def sideways(page: Page) -> list[str]:
    """Whether the page itself scrolls sideways, and what makes it wider than the window."""
    wider: list[str] = page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > width + 1)
            .slice(0, 5)
            .map((one) => one.tagName + "." + one.className);
        }"""
    )
    return [f"wider than the window: {', '.join(wider)}"] if wider else []


def barriers(page: Page) -> list[str]:
    """What axe finds: rule, what it says, and where."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:4]}" for one in found]
