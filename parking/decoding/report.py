"""What a value is: the decoder that won, and what every other one said."""

from dataclasses import dataclass

from parking.decoding.frame import Frame
from parking.decoding.layout import laid_out
from parking.decoding.schema import Schema
from parking.json_member import is_json

LAID_OUT = 256 * 1024
"""Characters up to which JSON is laid out; more is shown as it is written."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way of reading, whether it fits, and what it said: the end of a sentence."""

    decoder: str
    fits: bool
    said: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """A value as people read it.

    `form` is null, empty, json, text or hex: how it is shown. `written` is then the JSON as it is written (of a binary
    format: what it means), or the text; for hex it is empty, and the bytes are shown. `whole`: all of the value is in
    it. `lossy`: what is shown is not all that the bytes say. `notes` are sentences for people. `preview` is what the
    text holds in another wrapping. `verdicts`: the decoder that won first. `schema`, `frame`: of a registry's value.
    """

    form: str
    written: str = ""
    whole: bool = True
    lossy: bool = False
    notes: tuple[str, ...] = ()
    preview: str = ""
    verdicts: tuple[Verdict, ...] = ()
    frame: Frame | None = None
    schema: Schema | None = None

    @property
    def decoder(self) -> str:
        return self.verdicts[0].decoder if self.verdicts else self.form

    @property
    def translated(self) -> bool:
        """Whether `written` is made of the bytes, not the bytes themselves as text."""
        return self.form == "json" and self.decoder != "JSON"

    @property
    def schema_text(self) -> str:
        """The schema as people read it; empty where there is none."""
        text = self.schema.text if self.schema else ""
        return laid_out(text) if len(text) <= LAID_OUT and is_json(text) else text

    @property
    def text(self) -> str:
        """What to show where there is no markup: JSON on lines of its own."""
        return laid_out(self.written) if self.form == "json" and len(self.written) <= LAID_OUT else self.written
