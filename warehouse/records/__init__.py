"""The domain model: every stored type, in one place."""

from callwright.warehouse.records.base import *
from callwright.warehouse.records.drafts import *
from callwright.warehouse.records.evaluation import *
from callwright.warehouse.records.samples import *
