"""What keeps the demo from going on."""


class Trouble(Exception):
    """The message is for people: what is wrong, and what to do about it."""
