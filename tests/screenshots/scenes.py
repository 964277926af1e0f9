"""The pictures: who looks at which page of the world that `manage.py life` makes."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from parking.models import ErrorGroup, EventState, Flow, Incident, Quarantine
from replay.models import Replay
from tests.console import story
from tests.screenshots.world import People, make


@dataclass(frozen=True, slots=True)
class Picture:
    """One page to be taken: its file name, address, and who looks."""

    name: str
    address: str
    who: User | None
    script: str = ""


OPEN_ALL = "document.querySelectorAll('main details').forEach((one) => { one.open = true })"
EDIT = """
const field = document.querySelector("#value");
field.value = field.value.replace('"1200.00"', "120000");
field.dispatchEvent(new Event("input", { bubbles: true }));
"""


def tell(now: datetime) -> list[Picture]:
    """Make the world as it is at `now`; the pictures of it."""
    people = make(now)
    return [*_lists(people), *_keys(people), *_replays(people), *_flows(people), *_others(people)]


def _lists(people: People) -> list[Picture]:
    oncall, nobody = people.oncall, people.nobody
    return [
        Picture("signin", "/signin", None),
        Picture("overview", "/", oncall),
        Picture("overview-reviewer", "/", people.reviewer),
        Picture("overview-none", "/", nobody),
        Picture("keys", "/keys", oncall),
        Picture("keys-flow", "/keys?flow=disputes", oncall),
        Picture("keys-released", "/keys?state=released", oncall),
        Picture("keys-none", "/keys?text=nothing-like-this", oncall),
        Picture("replays", "/replays", people.reviewer),
        Picture("unattributed", "/unattributed", oncall),
        Picture("errors", "/errors", oncall),
        Picture("error", f"/errors/{_storm().pk}", oncall),
        Picture("error-back", f"/errors/{_came_back().pk}", oncall),
        Picture("error-said", f"/errors/{_of_disputes().pk}", oncall, script=OPEN_ALL),
        Picture("error-masked", f"/errors/{_of_disputes().pk}", people.viewer),
        Picture("search", "/search?q=acc-20417", oncall),
        Picture("search-start", "/search", oncall),
        Picture("search-none", "/search?q=nothing-like-this", oncall),
        Picture("search-wrong", "/search?q=one+...+two", oncall),
        Picture("journal", "/journal", oncall),
    ]


def _keys(people: People) -> list[Picture]:
    oncall, decided, undecided = people.oncall, key("acc-20417"), key("acc-20433")
    head, held = story.event_of(decided, 1), story.event_of(decided, 2)
    at_first = story.event_of(undecided, 1)
    unread = EventState.objects.not_understood()[0]
    return [
        Picture("key", f"/keys/{decided.pk}", oncall),
        Picture("key-undecided", f"/keys/{undecided.pk}", oncall),
        Picture("key-difference", f"/keys/{decided.pk}?view=difference", oncall),
        Picture("key-held", f"/keys/{decided.pk}?event={held.pk}", oncall),
        Picture("key-masked", f"/keys/{decided.pk}", people.viewer),
        Picture("key-hostile", f"/keys/{key(people.hostile).pk}", oncall),
        Picture("key-replaying", f"/keys/{_replay('running').quarantine_id}", oncall),
        Picture("key-stopped", f"/keys/{_replay('stopped').quarantine_id}", oncall),
        Picture("key-released", f"/keys/{_replay('completed').quarantine_id}", oncall),
        Picture("key-plain", f"/keys/{_plain().quarantine_id}", oncall),
        Picture("event", f"/events/{head.pk}", oncall),
        Picture("event-hex", f"/events/{head.pk}?tab=hex", oncall),
        Picture("event-unattributed", f"/events/{unread.pk}", oncall),
        Picture("amend", f"/events/{at_first.pk}/amend", oncall),
        Picture("amend-edited", f"/events/{at_first.pk}/amend", oncall, script=EDIT),
        Picture("request", f"/keys/{decided.pk}/replays", oncall),
        Picture("request-undecided", f"/keys/{undecided.pk}/replays", oncall),
        Picture("failure-404", "/keys/999999", oncall),
        Picture("failure-403", f"/events/{head.pk}/amend", people.viewer),
    ]


def _replays(people: People) -> list[Picture]:
    waiting = _replay("requested").pk
    return [
        Picture("replay", f"/replays/{waiting}", people.reviewer),
        Picture("replay-own", f"/replays/{waiting}", people.oncall),
        Picture("replay-plain", f"/replays/{_plain().pk}", people.reviewer),
        Picture("replay-running", f"/replays/{_replay('running').pk}", people.oncall),
        Picture("replay-stopped", f"/replays/{_replay('stopped').pk}", people.oncall),
        Picture("replay-completed", f"/replays/{_replay('completed').pk}", people.oncall),
    ]


def _flows(people: People) -> list[Picture]:
    firing = Incident.objects.unresolved().filter(state="firing").latest("opened_at")
    over = Incident.objects.filter(state="resolved", flow__name="disputes", kind="depth").latest("pk")
    return [
        Picture("incidents", "/incidents", people.oncall),
        Picture("incidents-none", "/incidents", people.nobody),
        Picture("incident", f"/incidents/{firing.pk}", people.oncall),
        Picture("incident-resolved", f"/incidents/{over.pk}", people.viewer),
        Picture("flows", "/flows", people.oncall),
        Picture("flow", "/flows/invoices-eu", people.owner),
        Picture("flow-rule", "/flows/disputes", people.owner, script=OPEN_ALL),
        Picture("flow-watched", "/flows/disputes", people.viewer),
    ]


def _others(people: People) -> list[Picture]:
    return [
        Picture("status", "/status", people.oncall),
        Picture("account", "/account", people.oncall),
        Picture("components", "/ux", people.staff),
    ]


def key(name: str) -> Quarantine:
    return Quarantine.objects.select_related("hold_key").get(
        hold_key__key=name.encode(), flow__name="disputes", state__in=["open", "replaying"]
    )


def _replay(state: str) -> Replay:
    """The latest of the gated flow in that state."""
    return Replay.objects.filter(flow__name="disputes", state=state).latest("pk")


def _plain() -> Replay:
    """The one that waits for approval in a flow without the gate."""
    return Replay.objects.get(flow__target=Flow.Target.PLAIN, state="requested")


def _storm() -> ErrorGroup:
    return ErrorGroup.objects.get(flow__name="invoices-eu", error_type__contains="TaxRateMissing")


def _came_back() -> ErrorGroup:
    return ErrorGroup.objects.get(flow__name="disputes", triage__status="resolved")


def _of_disputes() -> ErrorGroup:
    return ErrorGroup.objects.filter(flow__name="disputes").latest("event_count")
