"""A world of one's own: a library that lends books."""

from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from callwright.generators.environments.episodes import RefusalError
from callwright.generators.environments.protocol import WorldSettings
from callwright.generators.environments.python_world import PythonWorld, python_world, reads, writes

TITLES = {"b1": "Persuasion", "b2": "Solaris", "b3": "Momo", "b4": "Ulysses"}
PartOfTitle = Annotated[str, Field(description="A part of the title.")]


class Book(BaseModel):
    """A book of the library."""

    book_id: str
    title: str
    lent_to: str = ""


class Shelves(BaseModel):
    """What the library holds; each field of things by their ids is a kind: book."""

    books: dict[str, Book]


class Settings(WorldSettings):
    """What a recipe says of it, as `{environment: example, lent: 1}`."""

    environment: Literal["example"]
    lent: int = Field(default=0, ge=0, le=len(TITLES), description="Books that are lent at first.")


class Library(PythonWorld[Shelves, Settings]):
    """A library: what its methods return is the response, and what they refuse changes nothing."""

    def start(self, rng: Random) -> Shelves:
        """All books, some of them lent, by the seed of the episode."""
        lent = dict.fromkeys(rng.sample(sorted(TITLES), self.settings.lent), "Noor")
        books = [Book(book_id=key, title=TITLES[key], lent_to=lent.get(key, "")) for key in TITLES]
        return Shelves(books={book.book_id: book for book in books})

    @reads
    def find_books(self, title: PartOfTitle = "") -> list[Book]:
        """Find books by a part of their title, or all."""
        part = title.casefold()
        return [book for book in self.state.books.values() if part in book.title.casefold()]

    @writes
    def lend_book(self, book_id: str, member: str) -> Book:
        """Lend a book to a member."""
        book = self.state.books.get(book_id)
        if book is None:
            raise RefusalError("not_found", f"There is no book {book_id!r}.")
        if book.lent_to:
            raise RefusalError("conflict", f"{book.title} is lent to {book.lent_to}.")
        book.lent_to = member
        return book


WORLD = python_world("example", Library, Settings)
