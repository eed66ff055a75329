"""Releases: frozen, named sets of accepted samples."""

from callwright.warehouse.releases.answers import *
from callwright.warehouse.releases.freezing import *
from callwright.warehouse.releases.reading import *
from callwright.warehouse.releases.splits import *
