"""The story behind the pictures: who is there, which keys are stopped, and where to look."""

import uuid
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient, NewTopic
from django.conf import settings
from django.contrib.auth.models import User

from console.models import Grant
from parking.models import Flow
from parking.wire import Wire
from replay.models import Replay
from tests import alarm_story, servers
from tests.console import story
from tests.screenshots.watched import watched


@dataclass(frozen=True, slots=True)
class Picture:
    """One page to be taken: its file name, address, and who looks."""

    name: str
    address: str
    who: User | None
    script: str = ""


def tell() -> list[Picture]:
    """Write the story into the database; the pictures of it."""
    topic = _topic()
    disputes = _flow("disputes", "Payments team", topic, schema=story.SCHEMA, pace_per_second=5)
    invoices = _flow("invoices-eu", "Billing team", topic)
    shipments = _flow("shipments", "Logistics team", topic)
    oncall, reviewer, viewer = _people(disputes, invoices, shipments)
    nobody, staff = story.person("newcomer", "new colleague"), story.person("builder", "page builder")
    User.objects.filter(pk=staff.pk).update(is_staff=True)
    lot, bills, parcels = story.Lot(disputes), story.Lot(invoices), story.Lot(shipments)

    for number, minutes in enumerate((204, 171, 96, 41, 9)):
        story.simple_key(
            bills, b"inv-%d" % (70_311 + 7 * number), ago=minutes * 60, held=number * 3,
            error=("TaxRateMissing", "no tax rate for country XX on the day of delivery"), kind="InvoiceIssued",
        )  # fmt: skip
    story.simple_key(
        parcels, b"SHP-5521", ago=720, held=2, error=("CarrierRefused", "label service: 422 unknown depot")
    )
    story.simple_key(
        lot, b"acc-11873", ago=5_400, error=("ModelRateLimited", "no proposal within 3 tries"), kind="ChargeDisputed"
    )
    hostile = story.simple_key(
        lot, '"><svg/onload=alert(1)>\u202egnp.exe\x00'.encode(), ago=1_900, held=1,
        error=("<img src=x onerror=alert(1)>", "invalid \u202eidden\x1b[31m text"), kind="x'onmouseover='alert(1)",
    )  # fmt: skip

    undecided = story.disputed_key(lot, b"acc-30998", 1_260, gap=False)
    key = story.disputed_key(lot)
    story.decided(key, oncall)

    waiting_key = story.disputed_key(lot, b"acc-22004", 4_000, gap=False)
    story.decided(waiting_key, oncall)
    waiting = story.requested(waiting_key, oncall)

    running = _running(lot, b"acc-18530", oncall, reviewer)
    stopped = _stopped(lot, b"acc-15027", oncall, reviewer)
    done = _done(lot, b"acc-10266", oncall, reviewer)
    _unread(lot)

    firing, over, group = watched(lot, bills, oncall, reviewer)
    head, held = story.event_of(key, 1), story.event_of(key, 2)
    unread = disputes.events.filter(kind="unattributed").first() or head
    return [
        Picture("signin", "/signin", None),
        Picture("overview", "/", oncall),
        Picture("overview-none", "/", nobody),
        Picture("keys", "/keys", oncall),
        Picture("keys-released", "/keys?state=released", oncall),
        Picture("keys-none", "/keys?text=nothing-like-this", oncall),
        Picture("key", f"/keys/{key.pk}", oncall),
        Picture("key-undecided", f"/keys/{undecided.pk}", oncall),
        Picture("key-difference", f"/keys/{key.pk}?view=difference", oncall),
        Picture("key-held", f"/keys/{key.pk}?event={held.pk}", oncall),
        Picture("key-masked", f"/keys/{key.pk}", viewer),
        Picture("key-hostile", f"/keys/{hostile.pk}", oncall),
        Picture("key-replaying", f"/keys/{running.quarantine_id}", oncall),
        Picture("key-stopped", f"/keys/{stopped.quarantine_id}", oncall),
        Picture("key-released", f"/keys/{done.quarantine_id}", oncall),
        Picture("event", f"/events/{head.pk}", oncall),
        Picture("event-hex", f"/events/{head.pk}?tab=hex", oncall),
        Picture("event-unattributed", f"/events/{unread.pk}", oncall),
        Picture("amend", f"/events/{story.event_of(undecided, 1).pk}/amend", oncall),
        Picture("amend-edited", f"/events/{story.event_of(undecided, 1).pk}/amend", oncall, script=EDIT),
        Picture("request", f"/keys/{key.pk}/replays", oncall),
        Picture("request-undecided", f"/keys/{undecided.pk}/replays", oncall),
        Picture("replay", f"/replays/{waiting.pk}", reviewer),
        Picture("replay-own", f"/replays/{waiting.pk}", oncall),
        Picture("replay-running", f"/replays/{running.pk}", oncall),
        Picture("replay-stopped", f"/replays/{stopped.pk}", oncall),
        Picture("replay-completed", f"/replays/{done.pk}", oncall),
        Picture("replays", "/replays", reviewer),
        Picture("unattributed", "/unattributed", oncall),
        Picture("incidents", "/incidents", oncall),
        Picture("incidents-none", "/incidents", nobody),
        Picture("incident", f"/incidents/{firing.pk}", oncall),
        Picture("incident-resolved", f"/incidents/{over.pk}", viewer),
        Picture("search", "/search?q=acc-20417", oncall),
        Picture("search-start", "/search", oncall),
        Picture("search-none", "/search?q=nothing-like-this", oncall),
        Picture("search-wrong", "/search?q=one+...+two", oncall),
        Picture("errors", "/errors", oncall),
        Picture("error", f"/errors/{group.pk}", oncall),
        Picture("error-masked", f"/errors/{alarm_story.error_of(disputes).pk}", viewer),
        Picture("flows", "/flows", oncall),
        Picture("flow", "/flows/invoices-eu", oncall),
        Picture("flow-watched", "/flows/disputes", viewer),
        Picture("journal", "/journal", oncall),
        Picture("status", "/status", oncall),
        Picture("account", "/account", oncall),
        Picture("components", "/ux", staff),
        Picture("failure-404", "/keys/999999", oncall),
        Picture("failure-403", f"/events/{head.pk}/amend", viewer),
    ]


EDIT = """
const field = document.querySelector("#value");
field.value = field.value.replace('"1200.00"', "120000");
field.dispatchEvent(new Event("input", { bubbles: true }));
"""


def _people(disputes: Flow, *others: Flow) -> tuple[User, User, User]:
    oncall = story.person("oncall", "on-call engineer", operator=disputes)
    reviewer = story.person("reviewer", "second reviewer", reviewer=disputes)
    for flow in others:
        Grant.objects.create(user=oncall, flow=flow, role="owner")
        Grant.objects.create(user=reviewer, flow=flow, role="viewer")
    return oncall, reviewer, story.person("auditor", "auditor", viewer=disputes)


def _running(lot: story.Lot, key: bytes, oncall: User, reviewer: User) -> Replay:
    quarantine = story.disputed_key(lot, key, 5_000, gap=False)
    story.decided(quarantine, oncall)
    replay = story.started(story.requested(quarantine, oncall), reviewer)
    story.sent(replay, 1, 5)
    story.answered(lot, replay, 4)
    return replay


def _stopped(lot: story.Lot, key: bytes, oncall: User, reviewer: User) -> Replay:
    quarantine = story.disputed_key(lot, key, 7_000, gap=False)
    story.decided(quarantine, oncall)
    replay = story.started(story.requested(quarantine, oncall), reviewer)
    story.sent(replay, 1, 3)
    story.answered(lot, replay, 2)
    story.stopped(replay, 3, "Step 3 failed: InvalidDecision. Decide it again, then ask for another replay.")
    return replay


def _done(lot: story.Lot, key: bytes, oncall: User, reviewer: User) -> Replay:
    quarantine = story.disputed_key(lot, key, 90_000, gap=False)
    story.decided(quarantine, oncall)
    replay = story.started(story.requested(quarantine, oncall), reviewer)
    story.sent(replay, 1, 7)
    story.answered(lot, replay, 7)
    story.completed(lot, replay)
    return replay


def _unread(lot: story.Lot) -> None:
    """Two records that nobody can read."""
    strange = Wire(b"k\x00", b"\x00\x01\x02 not ours \xff" * 4, (("x-custom", b"1"), ("x-null", None)))
    broken = Wire(b"k", b"{}", (("siding-version", b"1"), ("siding-kind", b"poisonous")))
    lot.take([(strange, 3_000), (broken, 2_000)])


def _flow(name: str, team: str, topic: str, **changes: object) -> Flow:
    return story.make_flow(name, team, bootstrap=settings.KAFKA_BOOTSTRAP_SERVERS, replay_topic=topic, **changes)


def _topic() -> str:
    name = f"replay-{uuid.uuid4().hex[:12]}"
    if not servers.kafka_is_mock():
        admin = AdminClient({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS})
        config = {"cleanup.policy": "delete", "max.message.bytes": "2000000"}
        admin.create_topics([NewTopic(name, 3, 1, config=config)])[name].result(30)
    return name
