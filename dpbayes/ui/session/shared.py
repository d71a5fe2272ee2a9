"""Results that a server keeps for all its sessions, because they follow from public data and settings alone."""

from weakref import WeakSet

from dpbayes.base.memo import MOST, Memo

_memos: "WeakSet[Memo]" = WeakSet()


def shared_memo(most: int = MOST) -> Memo:
    """Return a new memo for all sessions, which is cleared when the last session has ended.

    Args:
        most: The number of results that it keeps while there are visitors.

    Returns:
        The memo. The caller keeps it.
    """
    memo = Memo(most=most)
    _memos.add(memo)
    return memo


def clear_shared() -> None:
    """Forget all shared results; the next visitor computes them again."""
    for memo in list(_memos):
        memo.clear()
