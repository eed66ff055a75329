"""Your own export format: a line per sample, with its first request and the calls due."""

from callwright.warehouse.exports.writing import Format, ReleaseSplit, Write
from callwright.warehouse.records import Sample


def begin(part: ReleaseSplit) -> Write:
    """What writes a sample into a split, and says how many rows that makes."""

    def write(sample: Sample) -> int:
        calls = [{"tool": call.tool, "arguments": call.arguments} for call in sample.gold]
        part.add_line(
            f"{part.stem}.jsonl", {"request": sample.request, "calls": calls, **part.mark}
        )
        return 1

    return write


FORMAT = Format(
    name="example",
    holds="a request and its calls, one a line",
    readers="programs of your own",
    begin=begin,
)
