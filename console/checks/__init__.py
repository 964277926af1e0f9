"""What `manage.py check` looks at beyond Django: the settings, and every server. It says what is wrong, where (the
variable, flow or cluster), and what to do. Nothing here runs when another command starts: `watch` has to work while
Redis is down.
"""

from django.core.checks import register

from console.checks import clusters, database, installation, mail, queues

SETTINGS = "installation"
CONNECTIONS = "connections"


def add(*, connections: bool) -> None:
    """Have the next `check` look at the settings, and at the servers too if `connections`."""
    register(installation.look, SETTINGS, deploy=True)
    for server in (database, queues, clusters, mail) if connections else ():
        register(server.look, CONNECTIONS, deploy=True)
