"""What docs/stability.md promises changes only on purpose."""

from tests.support.public_surface import RECORDED, public_surface


def test_the_public_surface_is_the_recorded_one() -> None:
    recorded, found = RECORDED.read_text("utf-8").splitlines(), public_surface().splitlines()
    gone = [line for line in recorded if line not in found]
    new = [line for line in found if line not in recorded]
    assert (gone, new) == ([], []), (
        "The public surface has changed. Lines that are gone break users: keep the old form and"
        " deprecate it (docs/stability.md). If the change is meant, run `make surface`."
    )
