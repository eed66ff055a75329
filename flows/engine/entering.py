"""What a flow does first, in whatever process it is carried out."""

from flows.cli.ending import silence_teardown
from flows.settings import Settings, quiet_vendors, read_settings


def flow_settings() -> Settings:
    """The settings of the process that carries out a flow; a worker's was not told to be quiet, at work and in the end."""
    quiet_vendors()
    silence_teardown()
    return read_settings()
