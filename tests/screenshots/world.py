"""The world of the pictures: that of `manage.py life`, with the present, and what only pictures need. All synthetic."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from console.demo import prepare, topics
from console.demo.disputes.stories import Sender
from console.demo.life.cases import Case, Remedy
from console.demo.life.clock import Clock, ruling
from console.demo.life.disputes import Disputes, Trouble
from console.demo.life.tell import tell
from parking.actor import Actor
from parking.assign import assign
from parking.attempt import Attempt
from parking.models import Beat, Delivery, Flow, Incident, IntakePosition, Quarantine, Team, TopicIncarnation
from parking.search.index import catch_up
from parking.wire import Wire
from tests import alarm_story, servers
from tests.console import story

HOSTILE = '"><svg/onload=alert(1)>\u202egnp.exe\x00'
ACTING = ("oncall", "reviewer", "owner")


@dataclass(frozen=True, slots=True)
class People:
    """Those of the demo, one who may not see payloads, one without a role, one of the staff."""

    oncall: User
    reviewer: User
    owner: User
    viewer: User
    nobody: User
    staff: User
    hostile: str = HOSTILE


def make(now: datetime) -> People:
    (topics.touch if servers.kafka_is_mock() else topics.create)(settings.KAFKA_BOOTSTRAP_SERVERS)
    prepare.declare_flows(settings.KAFKA_BOOTSTRAP_SERVERS)
    people = _people()
    with ruling(Clock(now - timedelta(days=30))):
        _hooks()
    actors = {name: story.actor(getattr(people, name)) for name in ACTING}
    tell(actors=actors, now=now, present=True)
    with ruling(Clock(now)):
        _processes(now)
        _strangers()
        _logs(now)
        _pages()
        _on_it(actors["oncall"])
    catch_up()
    return people


def _people() -> People:
    prepare.make_accounts(dict.fromkeys(ACTING, story.PASSWORD))
    oncall, reviewer, owner = (User.objects.get(username=name) for name in ACTING)
    viewer = story.person("auditor", "Auditor", viewer=Flow.objects.get(name="disputes"))
    staff = story.person("builder", "Page builder")
    User.objects.filter(pk=staff.pk).update(is_staff=True)
    return People(oncall, reviewer, owner, viewer, story.person("newcomer", "New colleague"), staff)


def _hooks() -> None:
    payments, billing = Team.objects.get(name="Payments team"), Team.objects.get(name="Billing team")
    alarm_story.hook(payments, "https://pager.example/in/s3cret", name="pager")
    alarm_story.hook(payments, "lead@payments.example", name="team lead", fallback=True)
    alarm_story.hook(billing, "billing@console.example", name="billing mail")
    alarm_story.hook(Team.objects.get(name="Logistics team"), "https://chat.example/logistics", name="chat")


def _processes(now: datetime) -> None:
    """All of them live, but for a worker that has been silent for four minutes."""
    notes = {"intake": "reads 9 partitions", "index": "", "watch": "leads", "worker": ""}
    for number, (process, note) in enumerate(notes.items()):
        ago = timedelta(minutes=4) if process == "worker" else timedelta(seconds=2 + number)
        Beat.objects.create(process=process, host="siding-1", pid=4100 + number, note=note, at=now - ago)


def _logs(now: datetime) -> None:
    """What Kafka tells of the parking topics: all is read, but for the shipments, whose topic is kept for two days."""
    for life in TopicIncarnation.objects.filter(name__endswith=".parking").order_by("name", "-pk").distinct("name"):
        late = life.name.startswith("shipments")
        life.retention_ms, life.retention_bytes = (2 if late else 7) * 86_400_000, -1
        life.save()
        for partition in range(3):
            IntakePosition.objects.update_or_create(
                topic=life,
                partition=partition,
                defaults={
                    "next_offset": 400,
                    "moved_at": now,
                    "log_start": 0,
                    "log_end": 400 + (partition * 9 if late else 0),
                    "looked_at": now,
                    "read_until": now - timedelta(hours=30 if late else 0),
                },
            )


def _strangers() -> None:
    """A key and an error that want to be scripts, and two records that nobody can read."""
    lot = story.Lot(Flow.objects.get(name="disputes"))
    case = Case("disputes", HOSTILE.encode())
    Disputes(Random(5)).fail(case, timezone.now() - timedelta(minutes=31), hostile)
    strange = Wire(b"k\x00", b"\x00\x01\x02 not ours \xff" * 4, (("x-custom", b"1"), ("x-null", None)))
    broken = Wire(b"k", b"{}", (("siding-version", b"1"), ("siding-kind", b"poisonous")))
    lot.take([(case.events[0].wire, 1_860), (strange, 3_000), (broken, 2_000)])


def hostile(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("EvidenceAdded", account)
    headers = [(name, "x'onmouseover='alert(1)" if name == "event-type" else value) for name, value in message.headers]
    tried = Attempt(1, now, "<img src=x onerror=alert(1)>", "invalid \u202eidden\x1b[31m text", "", (), False)
    return message._replace(headers=headers), (tried,), Remedy("skip", "not ours")


def _pages() -> None:
    """Every page of the history was delivered at its second try, but for the latest one of a chat."""
    for delivery in Delivery.objects.select_related("incident").order_by("pk"):
        _deliver(delivery)
    last = Delivery.objects.filter(hook__name="chat").last()
    if last is not None:
        tries = [{"at": last.created_at.isoformat(), "by": "notifier", "status": 404, "answer": "HTTP 404 Not Found"}]
        Delivery.objects.filter(pk=last.pk).update(state="failed", tries=9, answers=tries, delivered_at=None)


def _deliver(delivery: Delivery) -> None:
    at = _told_at(delivery.incident, delivery.transition)
    words = ((503, "HTTP 503 Service Unavailable"), (204, "HTTP 204 No Content"))
    answers = [
        {"at": (at + timedelta(seconds=1 + 4 * number)).isoformat(), "by": "notifier", "status": status, "answer": said}
        for number, (status, said) in enumerate(words)
    ]
    Delivery.objects.filter(pk=delivery.pk).update(
        created_at=at, due_at=at, give_up_at=at + timedelta(minutes=20), state="delivered", tries=2, answers=answers,
        delivered_at=at + timedelta(seconds=5),
    )  # fmt: skip


def _told_at(incident: Incident | None, transition: str) -> datetime:
    assert incident is not None
    times = {"acknowledged": incident.acknowledged_at, "resolved": incident.resolved_at}
    return times.get(transition) or incident.opened_at


def _on_it(oncall: Actor) -> None:
    for name in ("acc-20417", "acc-20433"):
        key = Quarantine.objects.get(flow__name="disputes", hold_key__key=name.encode(), state="open")
        assign(quarantine_id=key.pk, to=oncall, actor=oncall, seen="")
