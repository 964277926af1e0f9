"""The form of an amendment: value and headers there and back, byte for byte where nothing was edited."""

from dataclasses import dataclass

from django.http import QueryDict

from console.show.edit import NotEditable, decoded_field, field, value_of, value_of_decoded
from console.show.headers import written
from console.show.unseen import runs, visible
from parking.decoding import Decoded
from parking.record import Headers

MOST_HEADERS = 500


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the form: the field's form and text, and the bytes they mean; `wrong` where they mean none."""

    form: str
    text: str
    value: bytes | None
    headers: Headers
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class HeaderField:
    """One header in the form. A name that a field cannot carry is shown visibly and kept as it is."""

    name: str
    form: str
    text: str

    @property
    def shown_name(self) -> str:
        return visible(self.name, one_line=True)

    @property
    def name_fixed(self) -> bool:
        return any(unseen for _, unseen in runs(self.name, one_line=True))


def start(value: bytes | None, headers: Headers, decoded: Decoded | None = None) -> Typed:
    """The form as it opens: as the JSON that the value is `decoded` to where that goes back to the same bytes."""
    shown = decoded_field(value, decoded) or field(value)
    return Typed(form=shown.form, text=shown.text, value=value, headers=headers)


def header_fields(headers: Headers) -> list[HeaderField]:
    return [HeaderField(name, *written(value)) for name, value in headers]


def parse(
    post: QueryDict, upload: bytes | None, *, value: bytes | None, headers: Headers, decoded: Decoded | None = None
) -> Typed:
    """What was typed, on top of what the form opened with. Raises NotEditable with the field that cannot be read."""
    form, text = post.get("form", "text"), post.get("value", "")
    if upload is not None:
        started = field(upload)
        return Typed(started.form, started.text, upload, _headers(post, headers))
    if form == "large":  # too long for a field, nothing was uploaded: as it was
        return Typed(form, "", value, _headers(post, headers))
    if form == "decoded" and value is not None and decoded is not None:
        return Typed(form, text, value_of_decoded(text, before=value, decoded=decoded), _headers(post, headers))
    return Typed(form, text, value_of(form, text, before=value), _headers(post, headers))


def _headers(post: QueryDict, before: Headers) -> Headers:
    """The rows in their order; a row without a name is none, a row that is marked is gone."""
    names, forms, texts = post.getlist("header-name"), post.getlist("header-form"), post.getlist("header-value")
    gone = set(post.getlist("header-gone"))
    if not names and "header-count" not in post:
        return before
    rows = list(zip(names, forms, texts, strict=False))[:MOST_HEADERS]
    kept = [
        _header(at, row, before) for at, row in enumerate(rows) if str(at) not in gone and (row[0] or at < len(before))
    ]
    return tuple(kept)


def _header(at: int, row: tuple[str, str, str], before: Headers) -> tuple[str, bytes | None]:
    name, form, text = row
    old = before[at] if at < len(before) else None
    if old is not None:
        name = old[0] if name == visible(old[0], one_line=True) else name
        if (form, text) == written(old[1]):
            return name, old[1]
    try:
        return name, value_of(form, text, before=None)
    except NotEditable as error:
        raise NotEditable(f"Header {visible(name, one_line=True)}: {error}") from None
