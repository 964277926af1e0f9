"""Prepares the sample of compose.yaml: topics, databases, flows, accounts. `python -m console.demo.contained FOLDER`.

FOLDER keeps the accounts' passwords, which are printed. Run again, it changes nothing.
"""

import sys
from pathlib import Path

from console.demo import databases, prepare, topics
from console.demo.place import ACCOUNTS, Place
from console.demo.trouble import Trouble
from console.environment import environment


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("FOLDER was expected: where the accounts' passwords are kept")
    at = environment()
    try:
        topics.create(at.kafka_bootstrap_servers)
        databases.service_database(at.database_url)
    except Trouble as trouble:
        sys.exit(str(trouble))
    prepare.main()
    passwords = Place(Path(sys.argv[1])).passwords()
    print(
        f"\nSiding is at {at.base_url}", *(f"  {name:9} {passwords[name]}" for name in ACCOUNTS), sep="\n", flush=True
    )


if __name__ == "__main__":
    main()
