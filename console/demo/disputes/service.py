"""The service: what a user writes around a handler to take part in Siding. `… disputes.service` runs it."""

import logging
import time

import psycopg

from console.demo.disputes import bank
from console.demo.disputes.asking import ModelFailed
from console.demo.disputes.decide import Decider, needs_a_decision
from console.demo.disputes.settings import Settings, settings
from parking.consumer import Breaker, Dependency, Flow, KeyedConsumer, PostgresLedger, Retries

RETRIES = Retries(attempts=3, first_wait=0.3)
BREAKER = Breaker(failures=10, open_for=5.0)
log = logging.getLogger("disputes")


def consumer(at: Settings) -> KeyedConsumer:
    """The consumer of the flow `disputes`; its names and rules are those of flows.toml."""
    flow = Flow(
        name="disputes",
        source_topic="disputes",
        parking_topic="disputes.parking",
        replay_topic="disputes.replay",
        consumer_group="disputes-service",
        secret=at.secret.encode(),
    )
    ledger = PostgresLedger(at.database_url)
    ledger.prepare()  # the ledger lives beside the business tables: one transaction for both
    return KeyedConsumer(
        flow,
        ledger,
        Decider(at.model_url),
        kafka={"bootstrap.servers": at.bootstrap_servers},
        retries=RETRIES,
        dependencies=[Dependency("model", needed_by=needs_a_decision, breaker=BREAKER, failures=(ModelFailed,))],
    )


def prepare(database_url: str) -> None:
    """Make the business tables, as soon as the database answers."""
    while True:
        try:
            with psycopg.connect(database_url, connect_timeout=5) as connection:
                bank.create_tables(connection)
        except psycopg.OperationalError as error:
            log.error("the database does not answer, trying again: %s", str(error).splitlines()[0])
            time.sleep(2)
        else:
            return


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    at = settings()
    prepare(at.database_url)
    consumer(at).run()


if __name__ == "__main__":
    main()
