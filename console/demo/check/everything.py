"""Not only the keys that the check followed: whatever was ever sent must be where it belongs."""

from django.conf import settings
from django.contrib.auth.models import User

from console.demo.check import seen
from console.demo.check.audit import Place, deviations, unfinished
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
    sent = seen.sent(settings.KAFKA_BOOTSTRAP_SERVERS, stage.flow.source_topic)

    def waiting() -> set[Place]:
        return unfinished(sent=sent, effects=seen.effects(stage.database_url), parked=seen.parked(stage.flow.name))

    report.wait(f"each of {len(sent)} records took effect or is parked", waiting, lambda places: not places)
    effects, parked = seen.effects(stage.database_url), seen.parked(stage.flow.name)
    places = {record.place for record in sent}
    known = [event for event in parked if event.place in places]
    found = deviations(sent=sent, effects=effects, parked=known)
    if found:
        raise Deviation("not as it must be:\n" + "\n".join(f"      {line}" for line in found))
    for what in (
        f"{len(effects)} effects, none of them twice",
        "in the order sent, for each account",
        "with the bytes that were sent, or the amended ones",
        f"nothing lost: {sum(event.state == 'parked' for event in known)} still wait in the console",
    ):
        report.so(what)
