"""What the server writes leaves at once."""

import os
import socket

from dpbayes.ui.server.starting import OPEN, open_sockets, send_at_once

TCP = socket.IPPROTO_TCP


def waits(connection: socket.socket) -> bool:
    return not connection.getsockopt(TCP, socket.TCP_NODELAY)


def test_a_listening_socket_that_is_open_and_what_it_accepts_do_not_wait() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert waits(listening)
        before = len(os.listdir(OPEN))
        send_at_once(open_sockets())
        assert len(os.listdir(OPEN)) == before
        with socket.create_connection(listening.getsockname()) as browser:
            accepted, _ = listening.accept()
            with accepted:
                assert not waits(listening)
                assert not waits(accepted)
                assert waits(browser), "a socket of another's making is left as it is"


def test_what_is_no_connection_of_tcp_is_left_alone() -> None:
    ends = socket.socketpair()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with ends[0], ends[1], datagrams:
        send_at_once([*ends, datagrams])
