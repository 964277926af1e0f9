"""Ports on the loopback interface."""

import socket

import psutil

from console.embedded.errors import PortBusy

HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def demand_free(port: int, *, variable: str, server: str) -> None:
    """Raises PortBusy, with the way out, where `port` is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise PortBusy(
                f"port {port} for {server} is in use by {_holder(port)}: stop it, "
                f"or choose another port with {variable}={free_port()}"
            ) from error


def _holder(port: int) -> str:
    """Who listens on a port, as far as we may know."""
    for connection in psutil.net_connections("tcp"):
        listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
        if listens and connection.pid:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "another program"
