"""`python -m parking.consumer.ledger postgresql|sqlite [--from VERSION]`: prints the SQL of the ledger's tables.

For services that run migrations of their own: from the version that they have (0: none) to the one that this kit needs.
"""

import argparse
import sys
from collections.abc import Sequence

from parking.consumer.ledger.ledger import VERSION, schema


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m parking.consumer.ledger", description=__doc__)
    parser.add_argument("database", choices=["postgresql", "sqlite"])
    parser.add_argument("--from", dest="version", type=int, default=0, choices=range(VERSION + 1))
    asked = parser.parse_args(arguments)
    for version in range(asked.version + 1, VERSION + 1):
        sys.stdout.write(schema(asked.database, version))


if __name__ == "__main__":
    main()
