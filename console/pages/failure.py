"""Pages for what went wrong: what happened, what was not lost, what to do. They need no database."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: not there, or not for this person: the page must not tell which."""
    return _page(
        request,
        404,
        "There is nothing here for you",
        "The address is wrong, or what it names belongs to a flow that you have no role in.",
        "Check the address, or ask an owner of the flow for a role.",
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: visible, but not allowed."""
    return _page(
        request,
        403,
        "Your role does not allow this",
        str(exception) or "You may see this, but not do that with it.",
        "Nothing was changed. Ask an owner of the flow, or somebody with the role.",
    )


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form did not come from a page of ours, or from one that is too old."""
    return _page(
        request,
        403,
        "This form has expired",
        "It was opened before you signed in, in another session, or it did not come from Siding.",
        "Nothing was changed. Go back, reload the page and send it again; what you typed is still there.",
    )


def broken(request: HttpRequest) -> HttpResponse:
    """500: our fault."""
    return _page(
        request,
        500,
        "Something broke on our side",
        "What you sent may or may not have been done: a change is made completely or not at all.",
        "Look at the page again before you repeat it. The log of the web process has the reason.",
    )


def _page(request: HttpRequest, status: int, title: str, happened: str, todo: str) -> HttpResponse:
    context = {"status": status, "title": title, "happened": happened, "todo": todo, "places": []}
    return render(request, "failure/failure.html", context, status=status)
