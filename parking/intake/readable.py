"""Which parking topics of a cluster can be read, in which life; who parks there; and a line for each that cannot."""

from collections.abc import Iterable, MutableMapping

from parking.intake import positions, refused
from parking.intake.flows import FlowFacts, Flows, who
from parking.kafka_in import Look, Place
from parking.models import Cluster, TopicIncarnation
from parking.trouble import Troubles


class Readable:
    """`flows`: topic → who parks there, of all that the last look knew of."""

    def __init__(self, cluster: Cluster, troubles: Troubles) -> None:
        self.flows: dict[str, Flows] = {}
        self._cluster = cluster
        self._troubles = troubles
        self._troubled: set[str] = set()
        self._compacted: set[str] | None = None

    def fit(
        self, look: Look, declared: Iterable[FlowFacts], not_for_us: MutableMapping[str, str]
    ) -> dict[Place, TopicIncarnation]:
        """The partitions of the topics that are there and fit; a line for each flow whose topic is not.

        `not_for_us`: topics that this user may not read, with what Kafka says; each is told once.
        """
        self.flows = _who(look, declared)
        self._refuse(look)
        wanted: dict[Place, TopicIncarnation] = {}
        faults: dict[str, str] = {}
        for topic, flows in self.flows.items():
            fault = _fault(topic, look) or not_for_us.pop(topic, "")
            if fault:
                faults[f"flow {flows.first.name}"] = f"{fault}; intake takes it up by itself"
            elif topic in look.topics:
                life = positions.incarnation(self._cluster, topic, look.ids.get(topic, ""))
                positions.retain(life, look.topics[topic])
                wanted.update(((topic, number), life) for number in range(look.topics[topic].partitions))
        self._tell(faults)
        return wanted

    def _refuse(self, look: Look) -> None:
        """Owners hear when it begins, and when it is over; also what began or ended while nobody looked."""
        compacted = {topic for topic in look.topics if topic in self.flows and _is_compacted(topic, look)}
        if compacted != self._compacted:
            refused.tell(self._cluster, compacted)
            self._compacted = compacted

    def _tell(self, faults: dict[str, str]) -> None:
        for subject, text in faults.items():
            self._troubles.is_so(subject, text)
        for subject in self._troubled - faults.keys():
            self._troubles.is_over(subject)
        self._troubled = set(faults)


def _who(look: Look, declared: Iterable[FlowFacts]) -> dict[str, Flows]:
    found = {topic: who(topic, declared) for topic in (*look.topics, *look.missing, *look.faults)}
    return {topic: flows for topic, flows in found.items() if flows}  # who was switched off meanwhile


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
