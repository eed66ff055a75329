"""Carrying out a person's decision about a sample of a build: the fates and the acceptance that follow from it."""

from datetime import UTC, datetime
from typing import NamedTuple

from warehouse.rows import Row
from warehouse.store import Warehouse


class Decided(NamedTuple):
    """A sample of a build that `reviewer` decided about."""

    warehouse: Warehouse
    build: str
    recipe: str
    subject: str
    reviewer: str

    def accept(self) -> None:
        """The sample lands as it is."""
        self.settle("passed", f"Accepted by {self.reviewer}.")
        self.land(self.subject)

    def reject(self, reasons: str) -> None:
        """The sample does not land, or is taken back if it has."""
        self.settle("rejected", f"Rejected by {self.reviewer}: {reasons or 'no reason given'}.")
        self.withdraw()

    def replace(self, edited: str) -> None:
        """An edited sample stands for this one from now on; whether that one lands is for the checks to say."""
        self.settle("passed", f"Edited by {self.reviewer} as {edited}.")
        self.warehouse.execute(
            "delete from fates where build = ? and subject = ? and stage = 'land'", [self.build, self.subject]
        )
        self.withdraw()

    def settle(self, outcome: str, reason: str) -> None:
        """Give the sample this outcome wherever it waits in its build, and where it was reviewed or landed."""
        self.warehouse.execute(
            """
            update fates set outcome = ?, reason = ?, made_at = now()
            where build = ? and subject = ? and (outcome = 'waiting' or stage in ('review', 'land'))
            """,
            [outcome, reason, self.build, self.subject],
        )

    def land(self, subject: str) -> None:
        """Land a sample under the reviewer's name; what a machine did not prove is noted as vouched for."""
        now = datetime.now(UTC)
        proved = is_proved(self.warehouse, subject)
        acceptance: Row = {
            "subject": subject, "build": self.build, "recipe": self.recipe, "proved": proved,
            "accepted_by": self.reviewer, "vouched": not proved, "accepted_at": now, "withdrawn_at": None,
        }  # fmt: skip
        self.warehouse.put_rows({"acceptances": [acceptance], "fates": [self.landed(subject)]}, replacing=True)

    def landed(self, subject: str) -> Row:
        """The fate of a sample that has landed."""
        return {
            "build": self.build, "stage": "land", "subject": subject, "outcome": "passed",
            "reason": f"Accepted by {self.reviewer}.", "made_at": datetime.now(UTC),
        }  # fmt: skip

    def withdraw(self) -> None:
        """Take back an acceptance, if there is one."""
        self.warehouse.execute(
            "update acceptances set withdrawn_at = now() where subject = ? and withdrawn_at is null", [self.subject]
        )


def is_proved(warehouse: Warehouse, subject: str) -> bool:
    """Whether the newest verdict of every check proves the sample."""
    rows = warehouse.rows(
        "select arg_max(decision, made_at) as decision from verdicts where subject = ? group by check_name", [subject]
    )
    return bool(rows) and all(row["decision"] == "proved" for row in rows)


def carry_over_decisions(warehouse: Warehouse, build: str, recipe: str) -> None:
    """Apply what people decided in earlier builds to the samples that wait in this one: nobody is asked twice."""
    rows = warehouse.rows(
        """
        with decided as (
            select subject, arg_max(decision, reviewed_at) as decision, arg_max(reviewer, reviewed_at) as reviewer,
                arg_max(result, reviewed_at) as result, arg_max(reasons, reviewed_at) as reasons
            from reviews group by subject
        )
        select distinct d.* from decided d join fates f on f.subject = d.subject
        where f.build = ? and f.outcome = 'waiting' order by d.subject
        """,
        [build],
    )
    for row in rows:
        case = Decided(warehouse, build, recipe, row["subject"], row["reviewer"])
        if row["decision"] == "accept":
            case.accept()
        elif row["decision"] == "reject":
            case.reject(", ".join(row["reasons"]))
        elif row["result"]:
            case.replace(row["result"])
            if warehouse.rows("select 1 from acceptances where subject = ? and withdrawn_at is null", [row["result"]]):
                warehouse.put_rows({"fates": [case.landed(row["result"])]})
