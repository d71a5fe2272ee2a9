"""The drive that a ledger lies on: one over the network, or without locks, cannot hold it.

Several programs charge one ledger at once, and SQLite's write-ahead log and its locks need a disk of this computer.
"""

import errno
import re
import tempfile
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
"""Where Linux lists what is mounted; elsewhere nothing is known of drives."""

NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "fuse.glusterfs"}
    | {"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "davfs", "lustre", "gfs2", "ocfs2"}
)
"""Types of file systems that lie on another computer, as Linux names them."""

_OCTAL = re.compile(r"\\([0-7]{3})")


def network_drive(path: Path) -> str:
    """Return the type of the network drive that a path lies on; empty for a disk of this computer, or where unknown."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place, kind = Path("/"), ""
    for line in lines:
        before, _, after = line.partition(" - ")
        mounted = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), before.split()[4]))
        if path.resolve().is_relative_to(mounted) and len(mounted.parts) >= len(place.parts):
            place, kind = mounted, after.split()[0]
    return kind if kind in NETWORK else ""


def has_locks(folder: Path) -> bool:
    """Whether files in this folder can be locked. SQLite says "busy" both of a lock that is taken and of none at all.

    A file of its own is tried: to close the ledger here would take away the locks that this process has on it.
    """
    try:
        import fcntl
    except ImportError:  # a system with other locks
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)
    return True
