"""`manage.py inspect`: how intake would read records, from standard input or from Kafka. Needs no database."""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from confluent_kafka import KafkaException
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from console import schemas
from parking import kafka_at, topics
from parking.dialects import Unreadable, identify
from parking.dialects.reading import UNATTRIBUTED, UNKNOWN, Reading
from parking.kafka_at import Place
from parking.kafka_in import Fetched, Reader
from parking.malformed import Malformed
from parking.models import Cluster
from parking.record import INT64, Record, from_json_line

SECONDS = 15.0
HOLE = "a transaction's marker, a record of a transaction that was aborted or is open, or one that was compacted away"


class Command(BaseCommand):
    help = (
        "Prints how intake would read records, one JSON line each. They come as JSON lines on standard input (topic, "
        "partition, offset, timestamp_ms, key_b64, value_b64, headers: [[name, b64|null], …]), or one from Kafka: "
        "--topic, --partition, --offset."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--topic", help="read one record of this topic from Kafka")
        parser.add_argument("--partition", type=_whole)
        parser.add_argument("--offset", type=_whole)
        parser.add_argument(
            "--cluster", help="a declared cluster, by name (asks the database); else SIDING_KAFKA_BOOTSTRAP_SERVERS"
        )
        parser.add_argument(
            "--decode", action="store_true", help="say what the value is too, by the cluster's schema registry as well"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        place, cluster = _place(options), _cluster(options["cluster"])
        decoding = (cluster,) if options["decode"] else None
        if place is not None:
            self.stdout.write(json.dumps(inspected(_fetched(place, cluster), decoding)))
            return
        bad = 0
        for number, line in _lines():
            try:
                self.stdout.write(json.dumps(inspected(Fetched(from_json_line(line)), decoding)))
            except Malformed as error:
                bad += 1
                self.stderr.write(f"line {number}: {error}")
        if bad:
            raise CommandError(f"{bad} lines could not be read as records; the others are printed.")


def _whole(text: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < 20 else -1
    if not 0 <= number < INT64:
        raise ArgumentTypeError(f"a whole number from 0 on was expected, {text!r} arrived")
    return number


def _lines() -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(sys.stdin.buffer, start=1) if line.strip())


def _place(options: dict[str, Any]) -> Place | None:
    given = [name for name in ("topic", "partition", "offset") if options[name] is not None]
    if not given:
        return None
    if len(given) < 3:
        raise CommandError("--topic, --partition and --offset belong together: all three were expected.")
    return Place(options["topic"], options["partition"], options["offset"])


def _cluster(name: str | None) -> Cluster:
    """The declared one of that name; without a name the one of the settings, which has no schema registry."""
    if name is None:
        return Cluster(name="", bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
    try:
        found = Cluster.objects.filter(name=name).first()
        names = ", ".join(Cluster.objects.order_by("name").values_list("name", flat=True)) or "none"
    except OperationalError as error:
        said = " ".join(str(error).split())
        raise CommandError(f"The database cannot be used: {said}. Check SIDING_DATABASE_URL.") from error
    if found is None:
        raise CommandError(f"There is no cluster {name!r}; declared are: {names}.")
    return found


def _fetched(place: Place, cluster: Cluster) -> Fetched:
    """The record that stands there. Raises CommandError with what is wrong and what to do."""
    try:
        _check(place, cluster)
        found = kafka_at.read(cluster.client_settings, [place], seconds=SECONDS)[place]
    except topics.Unreachable as error:
        raise CommandError(f"{cluster.bootstrap_servers}: {error}") from error
    except KafkaException as error:
        raise CommandError(f"{cluster.bootstrap_servers}: {error.args[0].str()}") from error
    if isinstance(found, Fetched):
        return found
    if found.startswith(("No record", "The log ends")):
        raise CommandError(f"{place.topic}/{place.partition} has no record at offset {place.offset}: {HOLE}.")
    raise CommandError(found)


def _check(place: Place, cluster: Cluster) -> None:
    try:
        topic = topics.read(cluster.client_settings, place.topic)
    except topics.TopicMissing:
        raise CommandError(f"Topic {place.topic} does not exist on {cluster.bootstrap_servers}.") from None
    if place.partition >= topic.partitions:
        last = topic.partitions - 1
        raise CommandError(f"Topic {place.topic} has the partitions 0 to {last}; there is no {place.partition}.")
    with closing(Reader(cluster.client_settings)) as reader:
        begins, ends = reader.log(place.topic, place.partition)
    where = f"{place.topic}/{place.partition}"
    if place.offset < begins:
        raise CommandError(f"{where} begins at offset {begins}: what was before has been deleted by its retention.")
    if place.offset >= ends:
        last_one = f"its last offset is {ends - 1}" if ends > begins else "it is empty"
        raise CommandError(f"{where} has nothing at offset {place.offset} yet: {last_one}.")


def inspected(fetched: Fetched, decoding: tuple[Cluster] | None = None) -> dict[str, Any]:
    """The reading as JSON members; `unreadable` says why intake would keep the record raw.

    `doubt` is there where the client may have read something wrongly, `decoded` where a cluster to decode for is given.
    """
    reading, unreadable = _read(fetched)
    members: dict[str, Any] = {**reading.shown(), "unreadable": unreadable}
    if fetched.doubt:
        members["doubt"] = fetched.doubt
    if decoding is not None:
        members["decoded"] = _decoded(reading.content(fetched.record)[1], fetched.record, *decoding)
    return members


def _read(fetched: Fetched) -> tuple[Reading, str | None]:
    """The reading, and why there is none but where the record stands."""
    place = str(fetched.record.coordinates)
    if fetched.fault:
        return Reading(UNATTRIBUTED, UNKNOWN, place), fetched.fault
    try:
        return identify(fetched.record), None
    except Unreadable as error:
        return Reading(error.framework, UNKNOWN, place), str(error)


def _decoded(value: bytes | None, record: Record, cluster: Cluster) -> dict[str, Any]:
    found = schemas.read(cluster, value, record.headers)
    return {
        "decoder": found.decoder,
        "form": found.form,
        "document": found.written,  # as a text, so that every digit stays
        "whole": found.whole,
        "notes": list(found.notes),
        "verdicts": [{"decoder": one.decoder, "fits": one.fits, "said": one.said} for one in found.verdicts],
    }
