"""A loopback network and a block of ports for one local cluster, so that clusters beside each other never meet.

The claim is a listening socket on the block's first port: the kernel gives it to one process only and takes it back
when that process ends, however it ends.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

from submitter.errors import NotPlacedError

FIRST_PORT = 12000
PORTS = 400
"""Ports of one block: 6 for each of 64 nodes, 3 for the head."""
BLOCKS = 50
"""12000 to 31999: below the ports that the kernel hands to outgoing connections (32768 and up)."""
NETWORK = "127.77"
"""Ray rewrites 127.0.0.1 to the machine's own address, and keeps every other loopback address."""


@dataclass
class Claim:
    index: int
    _socket: socket.socket
    _ports: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        first = FIRST_PORT + self.index * PORTS
        self._ports = (port for port in range(first + 1, first + PORTS) if is_free(port))

    def address(self, node: int) -> str:
        """The IP of node 0, 1, …"""
        return f"{NETWORK}.{self.index + 1}.{node + 2}"

    def port(self) -> int:
        """The next free port of the block."""
        try:
            return next(self._ports)
        except StopIteration:
            raise NotPlacedError("rehearsal.no_ports", limit=PORTS) from None

    def release(self) -> None:
        self._socket.close()


def claim() -> Claim:
    """The first block that nobody holds."""
    for index in range(BLOCKS):
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            held.bind(("127.0.0.1", FIRST_PORT + index * PORTS))
            held.listen(1)
        except OSError:
            held.close()
            continue
        return Claim(index, held)
    raise NotPlacedError("rehearsal.no_block", limit=BLOCKS)


def is_free(port: int) -> bool:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True
