"""What every record on the way to a sample or a tool has in common."""

from warehouse.records.base import Record
from warehouse.records.samples import Origin, Sample

_PLAIN = frozenset({str, int, float, bool, tuple, list, dict, type(None)})  # asking a model class about each takes long


class Draft(Record):
    """A record on the way to a sample or a tool; kept so that lineage can be told, read back by nobody."""

    origin: Origin | None = None

    def stored_body(self) -> str:
        """The draft as JSON, each sample in it by its key alone: samples have a table of their own."""
        return self.without_samples().model_dump_json(warnings=False)  # a key where a sample is declared

    def without_samples(self) -> "Draft":
        """A copy for storing only, in which keys stand for samples."""
        named = {
            name: value.key if isinstance(value, Sample) else value.without_samples()
            for name, value in self
            if type(value) not in _PLAIN and isinstance(value, (Sample, Draft))
        }
        return self.model_construct(**{**dict(self), **named}) if named else self
