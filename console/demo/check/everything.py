"""Not only the keys that the check followed: whatever was ever sent must be where it belongs."""

from django.conf import settings
from django.contrib.auth.models import User

from console.demo.check import seen
from console.demo.check.audit import deviations, unfinished
from console.demo.check.report import Deviation
from console.demo.check.stage import Stage
from console.demo.disputes.stories import QUIET
from console.demo.place import ACCOUNTS
from parking.actor import Actor


def people() -> dict[str, Actor]:
    """Who uses the demo, by account name."""
    users = User.objects.filter(username__in=ACCOUNTS)
    return {user.username: Actor(f"user:{user.pk}", user.get_full_name()) for user in users}


def effects_elsewhere(stage: Stage) -> int:
    """How many effects the accounts have that are in no trouble."""
    return len(seen.effects(stage.database_url, accounts=list(QUIET)))


def audit(stage: Stage, *, before: int) -> None:
    """Compare the source topic, the service's database and the console. Raises Deviation."""
    report = stage.report
    report.chapter("Everything that was ever sent")
    now = effects_elsewhere(stage)
    if now <= before:
        raise Deviation("the keys that are in no trouble had no effect meanwhile")
    report.so(f"the keys that are in no trouble went on all the time: {now - before} effects meanwhile")
    _nothing_lost(stage)
    effects = seen.effects(stage.database_url)
    sent = seen.sent(settings.KAFKA_BOOTSTRAP_SERVERS, stage.flow.source_topic)
    places = {record.place for record in sent}
    parked = [event for event in seen.parked(stage.flow.name) if event.place in places]
    found = deviations(sent=sent, effects=effects, parked=parked)
    if found:
        raise Deviation("not as it must be:\n" + "\n".join(f"      {line}" for line in found))
    waiting = sum(event.state == "parked" for event in parked)
    report.so(f"{len(effects)} effects: none twice, in the order sent for each account, with the bytes sent or amended")
    report.so(f"{len(parked)} events in the console, {waiting} of them waiting: each as the service's database has it")


def _nothing_lost(stage: Stage) -> None:
    sent = seen.sent(settings.KAFKA_BOOTSTRAP_SERVERS, stage.flow.source_topic)

    def waiting() -> set[str]:
        return unfinished(sent=sent, effects=seen.effects(stage.database_url), parked=seen.parked(stage.flow.name))

    stage.report.wait(
        f"nothing lost: each of {len(sent)} records took effect or is parked", waiting, lambda ids: not ids
    )
