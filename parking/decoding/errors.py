"""Why a value cannot be read, or a text not be written as a value. The messages are ends of sentences for people."""


class DoesNotFit(ValueError):
    """The bytes, or the schema, are not what this decoder reads."""


class Full(Exception):
    """Enough is written: what there is, is the beginning of a longer document."""


class NotWritable(ValueError):
    """The edited JSON is no value of the schema: where, what was expected, what arrived."""

    def __init__(self, path: str, expected: str, arrived: str) -> None:
        self.path = path
        super().__init__(f"{path or '/'}: {expected} was expected, {arrived} arrived")


class NoSchema(Exception):
    """There is no schema of that id, or nobody can be asked for it. `passing`: it may be there a moment later."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        self.passing = passing
        super().__init__(message)
