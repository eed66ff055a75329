"""A simulated travel world: hotels, flights, cars, attractions and taxis that answer calls, the same for the same seed."""

from callwright.generators.environments.travel.world import open_travel

__all__ = ["open_travel"]
