"""A person with a browser: signs in, opens pages, presses buttons, over real HTTP."""

import re

import requests

SECONDS = 20.0
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Person:
    """One browser session."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()

    def sign_in(self, username: str, password: str) -> bool:
        """Whether the console let this person in."""
        self.post("/signin", username=username, password=password)
        return self.get("/keys").url == f"{self.url}/keys"

    def get(self, path: str) -> requests.Response:
        """A page, redirects followed."""
        return self._session.get(self.url + path, timeout=SECONDS)

    def post(self, path: str, *, seen_on: str = "/signin", **fields: str) -> requests.Response:
        """Press a button of the page `seen_on`, with the token that it holds; redirects are not followed."""
        token = TOKEN.search(self.get(seen_on).text)
        fields["csrfmiddlewaretoken"] = token[1] if token else ""
        return self._session.post(
            self.url + path,
            data=fields,
            headers={"Referer": self.url + seen_on},
            timeout=SECONDS,
            allow_redirects=False,
        )
