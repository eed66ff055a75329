"""The assignment problem, solved exactly: shortest augmenting paths (Crouse 2016), O(n³), as scipy solves it.

Where several assignments are best, rows and columns are taken in their order, so that the result is one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Matrix = Sequence[Sequence[float]]


class _Path(NamedTuple):
    sink: int
    length: float
    lengths: list[float]
    came_from: list[int]
    rows: set[int]
    columns: set[int]


def assign(likeness: Matrix) -> list[tuple[int, int]]:
    """Pairs of a row and a column, each taken once, whose sum of `likeness` is the highest; sorted by row."""
    if not likeness or not likeness[0]:
        return []
    costs = [[-value if math.isfinite(value) else 0.0 for value in row] for row in likeness]
    if len(costs) > len(costs[0]):
        turned = [list(column) for column in zip(*costs, strict=True)]
        return sorted((row, column) for column, row in enumerate(_solve(turned)))
    return list(enumerate(_solve(costs)))


def _solve(costs: list[list[float]]) -> list[int]:
    """The column of each row; there are at least as many columns as rows."""
    height, width = len(costs), len(costs[0])
    row_prices, column_prices = [0.0] * height, [0.0] * width
    column_of, row_of = [-1] * height, [-1] * width
    for start in range(height):
        path = _shortest_path(start, costs, (row_prices, column_prices), row_of)
        row_prices[start] += path.length
        for row in path.rows - {start}:
            row_prices[row] += path.length - path.lengths[column_of[row]]
        for column in path.columns:
            column_prices[column] -= path.length - path.lengths[column]
        column, row = path.sink, -1
        while row != start:
            row = path.came_from[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
    return column_of


def _shortest_path(
    start: int, costs: list[list[float]], prices: tuple[list[float], list[float]], row_of: list[int]
) -> _Path:
    """The cheapest way from row `start` to a column that no row has yet."""
    width = len(row_of)
    lengths, came_from = [math.inf] * width, [-1] * width
    rows: set[int] = set()
    columns: set[int] = set()
    open_columns = list(range(width - 1, -1, -1))  # so that ties go to the first column
    row, length, sink = start, 0.0, -1
    while sink < 0:
        rows.add(row)
        best, lowest = -1, math.inf
        for at, column in enumerate(open_columns):
            reached = length + costs[row][column] - prices[0][row] - prices[1][column]
            if reached < lengths[column]:
                lengths[column], came_from[column] = reached, row
            if lengths[column] < lowest or (lengths[column] == lowest and row_of[column] < 0):
                best, lowest = at, lengths[column]
        length, column = lowest, open_columns[best]
        columns.add(column)
        open_columns[best] = open_columns[-1]
        open_columns.pop()
        if row_of[column] < 0:
            sink = column
        else:
            row = row_of[column]
    return _Path(sink, length, lengths, came_from, rows, columns)
