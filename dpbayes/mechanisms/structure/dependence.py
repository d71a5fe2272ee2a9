"""How strongly a column depends on others in a table, and how far replacing one record can move that.

A contingency table N has one line for each combination of the parents' states and one column for each state of the
child; n is its total, r_i its sums by line and c_j by column. Neighbours are tables of the same public n that differ in
one record. To replace record a by b is to add either to the same table of m = n - 1 records, with counts N, sums u and
v; without an index these are of the line, column and cell of the record that is added.
"""

import numpy as np

from dpbayes.base.types import IntArray


def distance_from_independence(counts: IntArray) -> int:
    """Return S = sum_ij |n N_ij - r_i c_j|, a whole number: 2 n^2 times the score R of [Zhang17].

    R is half the L1 distance between the table's distribution and the product of its margins. S is at most 2 n^2, so
    that 64 bits hold it below 2^31 records.
    """
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return int(np.abs(int(counts.sum()) * counts - expected).sum())


def distance_sensitivity(lines: int, columns: int, n: int) -> int:
    """Return the most that replacing one record moves S: 4 (n - 1) if a side has two states, else at most 6 (n - 1).

    Proof. Adding a record to N makes the summands B + A with B_ij = n N_ij - u_i v_j for both records, A = m - u - v in
    the record's cell, -u_i in the other cells of its column and -v_j in those of its line. Hence S moves by at most
    |A(b) - A(a)|, in L1. As |A| = |m - u - v| + (m - u) + (m - v) <= 3 m, that is at most 6 m. With two lines the
    second line of B + A is minus the first, so S moves by at most twice what the first line of A(b) - A(a) has. If both
    records are in that line, it has 2 (m - u); if a is in it and b in the other, 2 (m - v) in a common column, and
    |m - u - v| + |v' - u| + m - v - v' <= 2 m in two columns, v' being of b's. So 4 m; likewise for two columns.

    4 m is attained for every n: n equal records, of which one is replaced by a record that differs in both. 6 m is not
    attained, as |A| = 3 m needs u = v = 0, where both records give the same S. But S moves by 6 m (1 - O(1/sqrt(n))):
    a record alone in its cell, whose line and column have about sqrt(n) records each, is replaced by one with states
    that nobody had. A side of one state has S = 0 always.
    [Zhang17] has R moved by 3/n + 2/n^2 for all tables: S by 6 n + 4.
    """
    fewest = min(lines, columns)
    return 0 if fewest < 2 else (4 if fewest == 2 else 6) * max(n - 1, 0)
