"""The parking topics of one cluster, as far as this process reads them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import structlog
from django.utils import timezone

from parking.intake import ownership, pointers, positions, refused
from parking.intake.ahead import Ahead, Batch, Stale
from parking.intake.flows import FlowFacts, Flows, who
from parking.intake.read import Arrived
from parking.intake.store import OtherContent, Stored, read_all, store_read
from parking.kafka_in import Fetched, Look, Reader
from parking.models import Cluster, TopicIncarnation
from parking.topics import Unreachable
from parking.trouble import Troubles

log = structlog.get_logger("intake")

BATCH = 4000
Name = tuple[str, int]
"""Topic and partition."""


class Mark(NamedTuple):
    """The end of a log as a look saw it."""

    end: int
    at: datetime


@dataclass(slots=True)
class Owned:
    """A partition that this process reads."""

    topic: TopicIncarnation
    partition: int
    position_id: int
    next_offset: int

    @property
    def place(self) -> positions.Partition:
        return self.topic.pk, self.partition


class Source:
    """`look` asks the cluster in the background, `arrange` takes the partitions that this process should have, `step`
    reads one batch of them.
    """

    def __init__(self, cluster: Cluster, troubles: Troubles) -> None:
        self.cluster = cluster
        self.declared: Sequence[FlowFacts] = ()
        self._flows: dict[str, Flows] = {}
        self.owned: dict[Name, Owned] = {}
        self.answers = False
        self._troubles = troubles
        self._reader = Reader(cluster.client_settings)
        self._background = ThreadPoolExecutor(max_workers=1)
        self._looking: Future[Look] | None = None
        self._beyond_end: set[Name] = set()
        self._silent: set[Name] = set()
        self._ahead = Ahead(self._fetch)
        self._marks: dict[Name, list[Mark]] = {}
        self._troubled: set[str] = set()
        self._compacted: set[str] | None = None

    @property
    def subject(self) -> str:
        return f"cluster {self.cluster.name}"

    def look(self) -> None:
        """Ask what became of the topics; a cluster that does not answer keeps nobody waiting."""
        if self._looking is None:
            self._looking = self._background.submit(
                self._reader.look, [topic for flow in self.declared for topic in flow.read_topics]
            )

    def arrange(self) -> None:
        """Take up what the last look says, if it has come back."""
        if self._looking is None or not self._looking.done():
            return
        looked, self._looking = self._looking, None
        try:
            look = looked.result()
            self._refuse(look)
            self._take(self._fit(look))
            self._note(look)
        except Unreachable as error:
            self.answers = False
            where = self.cluster.bootstrap_servers
            self._troubles.is_so(self.subject, f"{error} ({where}); intake goes on by itself when it answers")
            return
        self.answers = True
        self._troubles.is_over(self.subject)

    def step(self, timeout: float) -> int:
        """Read and store one batch; how many records were new. Raises what `store` raises, and Unreachable."""
        if not self.owned:
            return 0
        try:
            batch = self._ahead.take(timeout)
        except Stale:
            self._assign()
            return 0
        if batch.lost:
            self.forget(batch.lost)
            self.look()
        elsewhere = self._of_another_life(batch.ids)
        if batch.fetched and not batch.lost and not elsewhere:
            self._ahead.begin()
        try:
            new = self._store(batch).records
        except Exception:
            self._assign()  # from the stored positions: what is ahead of them must not be stored before them
            raise
        self._pass_marks(batch.reached)
        return new

    def _pass_marks(self, reached: Mapping[Name, int]) -> None:
        """Behind the last record of a log may stand the marks of transactions, and what was aborted: they are read."""
        passed = {
            name: offset
            for name, offset in reached.items()
            if name in self.owned and self.owned[name].next_offset < offset
        }
        if passed:
            positions.advance({self.owned[n].place: (self.owned[n].next_offset, end) for n, end in passed.items()})
            for name, end in passed.items():
                self.owned[name].next_offset = end

    def forget(self, names: set[Name] | None = None) -> None:
        """Read these partitions, or all, no further until `arrange` has placed them anew. Needs the database."""
        gone = [name for name in self.owned if names is None or name in names]
        ownership.give(self.owned.pop(name).position_id for name in gone)
        self._assign()

    def drop(self) -> None:
        """The same where the database is gone, and its locks with it."""
        self.owned = {}
        self._assign()

    def replaced(self, error: OtherContent) -> None:
        """Known coordinates came with other bytes: the log was replaced under the same topic id."""
        owned = next(o for o in self.owned.values() if o.place == error.place[:2])
        low, _ = self._reader.log(owned.topic.name, owned.partition)
        reason = f"Topic {owned.topic.name}: records of partition {owned.partition} came with other bytes than before."
        positions.begin_again(owned.topic, {owned.partition: low}, reason=reason)
        self.forget()
        self.look()

    def close(self) -> None:
        self._ahead.close()
        self._background.shutdown(wait=False, cancel_futures=True)
        self._reader.close()

    # What there is to read

    def _fit(self, look: Look) -> dict[Name, TopicIncarnation]:
        """The partitions of the topics that are there and fit; a line for each flow whose topic is not."""
        wanted: dict[Name, TopicIncarnation] = {}
        faults: dict[str, str] = {}
        self._flows = self._who(look)
        for topic, flows in self._flows.items():
            fault = _fault(topic, look) or self._reader.refused.pop(topic, "")
            if fault:
                faults[f"flow {flows.first.name}"] = f"{fault}; intake takes it up by itself"
            elif topic in look.topics:
                life = positions.incarnation(self.cluster, topic, look.ids.get(topic, ""))
                positions.retain(life, look.topics[topic])
                wanted.update(((topic, number), life) for number in range(look.topics[topic].partitions))
        self._tell(faults)
        return wanted

    def _who(self, look: Look) -> dict[str, Flows]:
        """Topic → who parks there, of all that the look knows of."""
        found = {topic: who(topic, self.declared) for topic in (*look.topics, *look.missing, *look.faults)}
        return {topic: flows for topic, flows in found.items() if flows}  # who was switched off meanwhile

    def _refuse(self, look: Look) -> None:
        """Owners hear when it begins, and when it is over; also what began or ended while nobody looked."""
        compacted = {topic for topic in look.topics if _is_compacted(topic, look) and who(topic, self.declared)}
        if compacted != self._compacted:
            refused.tell(self.cluster, compacted)
            self._compacted = compacted

    def _tell(self, faults: dict[str, str]) -> None:
        for subject, text in faults.items():
            self._troubles.is_so(subject, text)
        for subject in self._troubled - faults.keys():
            self._troubles.is_over(subject)
        self._troubled = set(faults)

    def _take(self, wanted: dict[Name, TopicIncarnation]) -> None:
        """Leave what is not wanted, what is another life's, and what is beyond our share; take what is free."""
        share = ownership.share(len(wanted))
        stale = {name for name, owned in self.owned.items() if wanted.get(name) != owned.topic}
        kept = [name for name in sorted(self.owned) if name not in stale]
        given_back = set(kept[share:])
        gone = stale | given_back
        changed = bool(gone)
        ownership.give(self.owned.pop(name).position_id for name in gone)
        try:
            for name, life in sorted(wanted.items(), key=lambda one: one[0] in self._silent):
                if len(self.owned) >= share:
                    break
                if name not in self.owned and name not in given_back:
                    self._silent.add(name)  # until it answers it comes last, and keeps the others from nobody
                    changed |= self._own(name, life)
                    self._silent.discard(name)
        finally:
            if changed:
                self._assign()

    def _own(self, name: Name, life: TopicIncarnation) -> bool:
        low, high = self._reader.log(*name)
        position = positions.position(life, name[1], start=low)
        if not ownership.take(position.pk):
            return False
        position.refresh_from_db()
        if position.next_offset > high:
            ownership.give([position.pk])
            self._beyond_the_end(name, life, position.next_offset, low, high)
            return False
        if position.next_offset < low:
            log.error("%s/%s: records %s to %s are gone before they were read", *name, position.next_offset, low - 1)
            positions.skip_gap(position, log_start=low)
        self.owned[name] = Owned(life, name[1], position.pk, max(position.next_offset, low))
        return True

    def _beyond_the_end(self, name: Name, life: TopicIncarnation, next_offset: int, low: int, high: int) -> None:
        """The log ends before our position. At the second look (a new leader may lag) it has lost its tail."""
        if name not in self._beyond_end:
            self._beyond_end.add(name)
            return
        self._beyond_end.discard(name)
        log.error("%s/%s: the log ends at %s, but was read to %s: it lost its tail", *name, high, next_offset)
        start = high if life.topic_id else low  # without a topic id it may be another topic altogether
        reason = f"Topic {name[0]}: partition {name[1]} ends at {high}, but was read to {next_offset} before."
        positions.begin_again(life, {name[1]: start}, reason=reason)

    def _assign(self) -> None:
        self._ahead.drop()
        self._reader.assign({name: owned.next_offset for name, owned in self.owned.items()})

    def _note(self, look: Look) -> None:
        """What the logs were like, for people. All that was in a log when an earlier look began is stored as soon as
        the position has passed the end that it saw.
        """
        seen = []
        for name in self.owned.keys() & look.logs.keys():
            owned, (start, end) = self.owned[name], look.logs[name]
            marks = [*self._marks.get(name, ()), Mark(end, look.at)]
            passed = [mark for mark in marks if mark.end <= owned.next_offset]
            self._marks[name] = [mark for mark in marks if mark.end > owned.next_offset][:1]
            seen.append(positions.Seen(owned.position_id, start, end, passed[-1].at if passed else None))
        positions.note(seen, look.at)

    # What was read

    def _is_next(self, fetched: Fetched) -> bool:
        owned = self.owned.get((fetched.record.topic, fetched.record.partition))
        return owned is not None and fetched.record.offset >= owned.next_offset

    def _fetch(self, timeout: float) -> Batch:
        """Fetch and read a batch. Runs in a thread of its own, while the one before is stored; needs no database."""
        fetched = self._reader.poll(most=BATCH, timeout=timeout)
        ids = self._reader.ids({one.record.topic for one in fetched})  # asked after the records came
        lost, reached = set(self._reader.lost), dict(self._reader.reached)
        self._reader.reached.clear()
        arrived = [self._arrived(one) for one in fetched]
        flows = {one.topic: self._flows[one.record.topic] for one in arrived if one.record.topic in self._flows}
        if len({one.topic for one in arrived}) > len(flows):
            raise Stale
        followed = pointers.followed(arrived, flows, self.cluster.client_settings)
        return Batch(fetched, read_all(followed, flows, timezone.now()), ids, lost, reached)

    def _arrived(self, fetched: Fetched) -> Arrived:
        record = fetched.record
        owned = self.owned.get((record.topic, record.partition))
        if owned is None:
            raise Stale
        return Arrived(record, owned.topic.pk, fetched.fault, fetched.doubt)

    def _of_another_life(self, ids: Mapping[str, str]) -> set[Name]:
        """If a topic's id is still the one we know, its records are what we take them for; the others are left."""
        another = {n for n, owned in self.owned.items() if n[0] in ids and ids[n[0]] != owned.topic.topic_id}
        if another:
            self.forget(another)
            self.look()
        return another

    def _store(self, batch: Batch) -> Stored:
        """What is next of a batch: also not of what was just lost."""
        pairs = [pair for one, pair in zip(batch.fetched, batch.read, strict=True) if self._is_next(one)]
        if not pairs:
            return Stored()
        names = {(one.record.topic, one.record.partition) for one, _ in pairs}
        expected = {self.owned[name].place: self.owned[name].next_offset for name in names}
        stored = store_read(pairs, expected, timezone.now())
        for one, _ in pairs:
            self.owned[one.record.topic, one.record.partition].next_offset = one.record.offset + 1
        return stored


def _fault(topic: str, look: Look) -> str:
    """Why a parking topic cannot be read, and what to do; empty where all is well."""
    if topic in look.faults:
        return look.faults[topic]
    if topic in look.missing:
        return f"parking topic {topic} does not exist: create it with cleanup.policy=delete"
    if _is_compacted(topic, look):
        policy = look.topics[topic].cleanup_policy
        return f"parking topic {topic} has cleanup.policy={policy}, so that records vanish: set cleanup.policy=delete"
    return ""


def _is_compacted(topic: str, look: Look) -> bool:
    return look.topics[topic].cleanup_policy not in (None, "delete")
