"""How templates write times, numbers and foreign texts. Everything here escapes; nothing is marked safe by hand."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.show import sentences, texts, unseen
from console.show.headers import Shown as ShownHeader
from console.show.headers import rows
from parking.models import Attempt, JournalEntry
from parking.record import Headers

register = template.Library()


@register.filter
def number(value: int | None) -> str:
    """An integer with its digits grouped: 88120 → `88 120`; None → `–`."""
    return "–" if value is None else texts.number(value)


@register.filter
def size(value: int) -> str:
    """A count of bytes: `812 bytes`, `5.0 MB`."""
    return texts.size(value)


@register.filter
def foreign(value: object, longest: int = 0) -> SafeString:
    """A text of somebody else on one line, escaped, every unseen character shown by name; bytes as UTF-8 or 0x….

    `longest` cuts it (0 = whole) and keeps the whole in the title.
    """
    return _foreign(value, one_line=True, longest=longest)


@register.filter
def class_name(error_type: str, longest: int = 80) -> SafeString:
    """An error type in a list: the simple name of its class, the whole in the title."""
    return _titled(texts.simple_name(error_type), error_type, longest)


@register.filter
def told(message: str, longest: int = 160) -> SafeString:
    """An error message in a list, without the words of a framework around it; the whole in the title."""
    return _titled(texts.unwrapped(message), message, longest)


def _titled(short: str, whole: str, longest: int) -> SafeString:
    shown = _foreign(short, one_line=True, longest=longest)
    if short == whole:
        return shown
    return format_html('<span title="{}">{}</span>', unseen.visible(whole[:2000]), shown)


@register.filter
def foreign_lines(value: object) -> SafeString:
    """The same for a text that keeps its lines."""
    return _foreign(value, one_line=False, longest=0)


def _foreign(value: object, *, one_line: bool, longest: int) -> SafeString:
    text = texts.text_of(bytes(value)) if isinstance(value, bytes | bytearray | memoryview) else str(value)
    cut = texts.shortened(text, longest) if longest else text
    inner = format_html_join("", "{}", ((_piece(piece, name),) for piece, name in unseen.runs(cut, one_line=one_line)))
    if cut == text:
        return format_html('<bdi class="foreign">{}</bdi>', inner)
    return format_html('<bdi class="foreign" title="{}">{}</bdi>', unseen.visible(text[:2000]), inner)


def _piece(piece: str, name: str) -> str | SafeString:
    return format_html('<span class="unseen" title="{}">{}</span>', name, piece) if name else piece


@register.filter
def plain(value: object) -> str:
    """A foreign text for an attribute or a title: unseen characters as ⟨NUL⟩."""
    text = texts.text_of(bytes(value)) if isinstance(value, bytes | bytearray | memoryview) else str(value)
    return unseen.visible(text, one_line=True)


@register.filter
def hexadecimal(value: bytes | memoryview, digits: int = 0) -> str:
    """Bytes in lower-case hex, in groups of four; the first `digits` (0 = all)."""
    text = bytes(value).hex()
    text = text[:digits] if digits else text
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


@register.simple_tag
def when(at: datetime | None, form: str = "") -> SafeString | str:
    """A moment in the viewer's zone: the time today, the day with it before; milliseconds and zone in the title.

    `form` "ms" writes the milliseconds out; "full" the whole date as well; "minute" no seconds.
    """
    if at is None:
        return "–"
    local = timezone.localtime(at)
    full = f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03} {timezone.get_current_timezone_name()}"
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), full, _moment(local, form))


def _moment(local: datetime, form: str) -> str:
    milliseconds = f".{local.microsecond // 1000:03}" if form in ("ms", "full") else ""
    clock = f"{local:%H:%M}" if form == "minute" else f"{local:%H:%M:%S}{milliseconds}"
    today = timezone.localtime()
    if form != "full" and local.date() == today.date():
        return clock
    if form != "full" and local.year == today.year:
        return f"{local.day} {local:%b} {clock}"
    return f"{local:%Y-%m-%d} {clock}"


@register.simple_tag
def clock() -> str:
    """The time of day in the viewer's zone: how fresh a page is."""
    return f"{timezone.localtime():%H:%M:%S}"


@register.simple_tag
def age(at: datetime | None) -> SafeString | str:
    """How long ago: `3 h 12 m`; the moment itself in the title."""
    return _span(at, timezone.now() - at) if at else "–"


@register.simple_tag
def until(at: datetime | None) -> SafeString | str:
    """How long still: `56 m 3 s`; `0 s` once it is over."""
    return _span(at, at - timezone.now()) if at else "–"


@register.simple_tag
def after(at: datetime | None, start: datetime | None) -> str:
    """How long after `start`: `+ 41 s`; empty where one of them is unknown or it is the same moment."""
    if at is None or start is None or at <= start:
        return ""
    return f"+{texts.THIN}{texts.span(at - start)}"


@register.simple_tag
def lasted(start: datetime | None, end: datetime | None) -> str:
    """How long from one moment to the other: `1 d 1 h`; `–` where one is unknown."""
    return "–" if start is None or end is None else texts.span(end - start)


def _span(at: datetime, length: timedelta) -> SafeString:
    local = timezone.localtime(at)
    title = f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03} {timezone.get_current_timezone_name()}"
    return format_html(
        '<time class="nowrap" datetime="{}" title="{}">{}</time>', at.isoformat(), title, texts.span(length)
    )


@register.simple_tag
def counted(count: int, one: str, many: str = "") -> str:
    """`1 event`, `7 events`, `2 reviews`: the number grouped, the word in its form."""
    return f"{texts.number(count)} {one if count == 1 else many or one + 's'}"


@register.inclusion_tag("parts/mark.html")
def mark(name: str, extra: str = "") -> dict[str, str]:
    """The sign of a meaning: poison, held, moving, settled, skipped, warning, unread. A word stands beside it."""
    return {"name": name, "extra": extra}


@register.inclusion_tag("parts/payload.html")
def payload(shown: object) -> dict[str, object]:
    """A `console.show.payload.Shown`: the lines with their errors, or the text, or the hex."""
    return {"shown": shown}


@register.inclusion_tag("parts/headers.html")
def headers(rows: list[ShownHeader], masked: bool, label: str = "Headers") -> dict[str, object]:
    """A table of ordered headers; `masked` hides the values; `label` names it where a page has several."""
    return {"rows": rows, "masked": masked, "label": label}


@register.simple_tag(takes_context=True)
def address(context: template.Context, **changes: object) -> str:
    """The address of this page with some parameters changed; None or "" removes one, and the page cursor goes."""
    query = context["request"].GET.copy()
    query.pop("after", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return f"?{query.urlencode()}"


@register.filter
def evidence(attempt: Attempt) -> str:
    """Why the consumer decided what it did, on one line: `model m-4.1 · prompt p-112`; empty without evidence."""
    told = attempt.evidence if isinstance(attempt.evidence, dict) else {}
    return " · ".join(f"{name} {value}" for name, value in told.items() if isinstance(value, str | int))


@register.filter
def sentence(entry: JournalEntry, types: dict[int, str]) -> SafeString:
    """What an entry of the journal says somebody did: `decided **skip** for LimitChanged`."""
    words, strong = sentences.said(entry.verb, entry.detail)
    about = types.get(entry.event_id or 0, "")
    subject = format_html(" for {}", _foreign(about, one_line=True, longest=80)) if about else ""
    return (
        format_html("{} <strong>{}</strong>{}", words, strong, subject)
        if strong
        else format_html("{}{}", words, subject)
    )


@register.filter
def header_rows(headers: Headers) -> list[ShownHeader]:
    """Ordered headers as rows for the `headers` tag."""
    return rows(headers)


@register.filter
def spelled(length: timedelta | None) -> str:
    """A span: `3 h 12 m`; None → `–`."""
    return "–" if length is None else texts.span(length)


@register.filter(name="hex")
def hex_digits(value: bytes | memoryview) -> str:
    """Bytes in lower-case hex without gaps, for form fields."""
    return bytes(value).hex()
