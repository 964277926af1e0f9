"""`python -m console.demo.check FOLDER`: exits with 0 only where everything is as it must be."""

import os
import sys
import time
import traceback
from pathlib import Path

import django

from console.demo.check.report import Deviation, Report
from console.demo.place import Place

SECONDS = 200.0  # all waiting together; it takes about a quarter of that


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    django.setup()
    report = Report(seconds=SECONDS)
    try:
        run(report, Place(Path(sys.argv[1])))
    except Deviation as deviation:
        return failed(report, str(deviation))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a deviation
        return failed(report, f"{type(error).__name__}: {error}\n\n{traceback.format_exc()}")
    report.say(f"\nCHECK PASSED: {report.checked} things are so, in {report.seconds:.0f} s.")
    return 0


def failed(report: Report, why: str) -> int:
    report.say(f"\n  ✗ {report.seconds:5.1f} s  {why}\n")
    report.say(f"CHECK FAILED after {report.checked} things that are so, in {report.seconds:.0f} s.")
    return 1


def run(report: Report, place: Place) -> None:
    """Every chapter, in order. Raises Deviation."""
    from django.conf import settings

    from console.demo.check import alarm, everything, plain, retention
    from console.demo.check.life import Lives
    from console.demo.check.pager import Pager
    from console.demo.check.session import Person
    from console.demo.check.stage import Stage
    from console.demo.disputes import producer
    from console.demo.disputes.settings import settings as sample
    from console.demo.disputes.stories import FIRST_SEQUENCE, Sender

    now = time.time_ns() // 1_000_000
    stage = Stage(
        report=report,
        kafka=producer.connect(settings.KAFKA_BOOTSTRAP_SERVERS),
        sender=Sender(seed=now, first=FIRST_SEQUENCE + now),
        database_url=sample().database_url,
        people=everything.people(),
    )
    people = {name: Person(settings.BASE_URL) for name in ("oncall", "owner")}
    for name, person in people.items():
        report.same(f"{name} can sign in", expected=True, actual=person.sign_in(name, place.passwords()[name]))
    lives = Lives(stage, first_account=now * 10)
    before = everything.effects_elsewhere(stage)
    lives.park()
    lives.see(people["oncall"], Person(settings.BASE_URL))
    lives.decide()
    lives.refuse(people["owner"])
    lives.replay()
    lives.follow()
    lives.release()
    plain.go_back(stage)
    with Pager(int(settings.OUTBOUND_ALLOW[0].rpartition(":")[2])) as pager:
        alarm.ring(stage, pager, f"acc-{now * 10 + 8}", lives.decide_one)
    everything.audit(stage, before=before)
    retention.run(stage, settled=lives.unreadable, account=f"acc-{now * 10 + 9}")


if __name__ == "__main__":
    sys.exit(main())
