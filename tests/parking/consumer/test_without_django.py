"""A service installs the kit alone: nothing of it needs Django, Celery or Redis."""

import subprocess
import sys

BLOCKED = ("django", "celery", "redis", "rq", "pydantic", "orjson")
PROGRAM = f"""
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ImportError(f"{{name}} is not installed")

sys.meta_path.insert(0, Block())
import parking, parking.topics, parking.wire, parking.consumer
from parking.consumer import Effect, Event, Flow, KeyedConsumer, Poison, PostgresLedger, RateLimited, SqliteLedger

ledger = SqliteLedger("/nonexistent/x.db")
flow = Flow(name="f", source_topic="s", parking_topic="p", replay_topic="r", consumer_group="g")
KeyedConsumer(flow, ledger, lambda event: None, kafka={{"bootstrap.servers": "localhost:1"}})
print(sorted(name for name in sys.modules if name.partition(".")[0] in {BLOCKED!r}))
"""


def test_the_kit_is_imported_and_built_without_django() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240, check=False)
    assert run.stderr == ""
    assert run.stdout.strip() == "[]"
