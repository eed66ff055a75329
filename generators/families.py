"""What a family of samples is: its kinds as rows, with the traits that planner, checks, metrics, views, review and exports ask.

Whoever needs to know what samples of a kind are like asks these traits, never the kind's name. Each family's rows stand in
its own package; generators/kinds.py joins them.
"""

from typing import Literal, NamedTuple

from callwright.warehouse.records import Transform

Calls = Literal["one", "set", "sequence"]
Asked = Literal["call", "plan", "conversation", "path"]
Paper = Literal["HammerBench", "ComplexFuncBench", "CallNavi", "CONFETTI", "BFCL"]
Spread = Literal["", "category", "complexity"]
Difficulty = Literal["", "easy", "medium", "hard"]
Shift = Literal["", "last", "same_turn", "own_turn", "message"]
Review = Literal["sample_review", "correction", "disambiguation", "dialogue_acts"]


class Traits(NamedTuple):
    """What samples of a kind are like.

    `paper`: whose counts stand in the table, and whose format holds such samples. `calls`: what is due at a call turn: one
    call at most, a set whose order is free, or a sequence. `asked`: how a candidate is asked for them, and so by which
    metrics it is scored. `is_whole`, `is_partial`: the call has every required argument, or lacks one. `is_open`: the request
    lacks arguments, so that the call can't have been made, whatever became of it later. `is_idle`: no call is due at all.
    `is_executed`: calls have results. `is_long`: there are several user turns. `is_changed`: it was made of a sample that was
    proved before. `has_correction`: the user takes a value back that was stated.
    `is_cross_domain`: its tools are of several domains. `has_catalog`: all tools of a catalog are shown.
    `has_acts`: replies carry dialogue acts, which people review. `spread`: what a count is shared out by besides languages.
    `shift`: where the user's change of mind takes effect: at the last snapshot, in the turn that says the value or in a turn
    that was inserted for it; or a message has the value, which is no change of mind.
    """

    paper: Paper
    calls: Calls = "one"
    asked: Asked = "call"
    is_whole: bool = False
    is_partial: bool = False
    is_open: bool = False
    is_idle: bool = False
    is_executed: bool = False
    is_long: bool = False
    has_catalog: bool = False
    has_acts: bool = False
    is_cross_domain: bool = False
    is_changed: bool = False
    has_correction: bool = False
    spread: Spread = ""
    difficulty: Difficulty = ""
    shift: Shift = ""

    @property
    def reviews(self) -> tuple[Review, ...]:
        """The kinds of reviews that people may be asked for: of the sample, of how its path was found, of its dialogue acts."""
        of_path: tuple[Review, ...] = ("correction", "disambiguation") if self.asked == "path" else ()
        of_acts: tuple[Review, ...] = ("dialogue_acts",) if self.has_acts else ()
        return ("sample_review", *of_path, *of_acts)


class Kind(NamedTuple):
    """A kind of sample: `group` of stages makes it, by `transform` of samples of the kinds in `sources`.

    `paper` is how many the paper tells of, None where it tells nothing; `scale` is how many a build of its size makes.
    `uses` is how often a source may be used: again where the next result will differ in turn, value or message. `borrows`: each
    takes the request of another sample besides its source. `favours_lacking`: sources that lack several arguments come often.
    """

    name: str
    about: str
    group: str
    traits: Traits
    transform: Transform | None = None
    sources: tuple[str, ...] = ()
    paper: int | None = None
    scale: int = 0
    uses: int = 1
    borrows: bool = False
    favours_lacking: bool = False


class Family(NamedTuple):
    """A family of samples: the folder of generators/ that makes it, and its kinds.

    `anywhere` are the transforms that take any kind, with the group of stages that does each.
    """

    name: str
    kinds: tuple[Kind, ...]
    anywhere: tuple[tuple[Transform, str], ...] = ()
