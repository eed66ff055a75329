"""Word lists as they are written in this package: one string, words apart by spaces, phrases by bars."""


def words(text: str) -> list[str]:
    """The words of a list; where there is a bar in it, what stands between bars."""
    return text.split("|") if "|" in text else text.split()
