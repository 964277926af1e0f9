"""The parking topics of one cluster, as far as this process reads them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import structlog
from django.utils import timezone

from parking.intake import ownership, pointers, positions, rows
from parking.intake.ahead import Ahead, Batch, Stale
from parking.intake.flows import FlowFacts
from parking.intake.owned import Owned, note, pass_marks
from parking.intake.read import Arrived
from parking.intake.readable import Readable
from parking.intake.store import OtherContent, Stored, read_all, store_read
from parking.kafka_in import Look, Place, Reader
from parking.models import Cluster, TopicIncarnation
from parking.topics import Unreachable
from parking.trouble import Troubles

log = structlog.get_logger("intake")

BATCH = 8000


class Source:
    """`look` asks the cluster in the background, `arrange` takes the partitions that this process should have, `step`
    reads one batch of them.
    """

    def __init__(self, cluster: Cluster, troubles: Troubles) -> None:
        self.cluster = cluster
        self.declared: Sequence[FlowFacts] = ()
        self.owned: dict[Place, Owned] = {}
        self.answers = False
        self._troubles = troubles
        self._readable = Readable(cluster, troubles)
        self._reader = Reader(cluster.client_settings)
        self._background = ThreadPoolExecutor(max_workers=1)
        self._looking: Future[Look] | None = None
        self._beyond_end: set[Place] = set()
        self._silent: set[Place] = set()
        self._ahead = Ahead(self._fetch)

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
            self._take(self._readable.fit(look, self.declared, self._reader.refused))
            note(self.owned, look)
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
        if batch.read and not batch.lost and not elsewhere:
            self._ahead.begin()
        try:
            new = self._store(batch).records
        except Exception:
            self._assign()  # from the stored positions: what is ahead of them must not be stored before them
            raise
        pass_marks(self.owned, batch.reached)
        return new

    def forget(self, names: set[Place] | None = None) -> None:
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

    # Which partitions

    def _take(self, wanted: dict[Place, TopicIncarnation]) -> None:
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

    def _own(self, name: Place, life: TopicIncarnation) -> bool:
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

    def _beyond_the_end(self, name: Place, life: TopicIncarnation, next_offset: int, low: int, high: int) -> None:
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

    # What was read

    def _fetch(self, timeout: float) -> Batch:
        """Fetch and read a batch. Runs in a thread of its own, while the one before is stored; needs no database."""
        lives = {name: owned.topic.pk for name, owned in self.owned.items()}
        fetched = self._reader.poll(most=BATCH, timeout=timeout)
        topics = {one.record.topic for one in fetched}
        ids = self._reader.ids(topics)  # asked after the records came
        lost, reached = set(self._reader.lost), dict(self._reader.reached)
        self._reader.reached.clear()
        try:
            arrived = [
                Arrived(one.record, lives[one.record.topic, one.record.partition], one.fault, one.doubt)
                for one in fetched
            ]
            flows = {lives[name]: self._readable.flows[name[0]] for name in lives if name[0] in topics}
        except KeyError:
            raise Stale from None
        followed = pointers.followed(arrived, flows, self.cluster.client_settings)
        return Batch(read_all(followed, flows, timezone.now()), ids, lost, reached)

    def _of_another_life(self, ids: Mapping[str, str]) -> set[Place]:
        """If a topic's id is still the one we know, its records are what we take them for; the others are left."""
        another = {n for n, owned in self.owned.items() if n[0] in ids and ids[n[0]] != owned.topic.topic_id}
        if another:
            self.forget(another)
            self.look()
        return another

    def _store(self, batch: Batch) -> Stored:
        """What is next of a batch: also not of what was just lost."""
        nexts = {owned.place: owned for owned in self.owned.values()}

        def is_next(place: rows.Place) -> bool:
            owned = nexts.get(place[:2])
            return owned is not None and place.offset >= owned.next_offset

        pairs = [pair for pair in batch.read if is_next(pair[1].place)]
        if not pairs:
            return Stored()
        ends = {row.place[:2]: row.place.offset + 1 for _, row in pairs}
        stored = store_read(pairs, {place: nexts[place].next_offset for place in ends}, timezone.now())
        for place, end in ends.items():
            nexts[place].next_offset = end
        return stored
