"""What people change in a real Label Studio after they said it: edited, deleted, said twice,
tasks gone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.review.pulling import Pulled
from tests.support.flows.live_sites import LiveSite, live_site
from tests.support.flows.review_sites import NOTHING_NEW
from tests.support.killable_studio import KillableStudio

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.fixture(scope="module")
def pushed(
    built_site: Path, tmp_path_factory: pytest.TempPathFactory, killable_studio: KillableStudio
) -> Iterator[LiveSite]:
    """A site whose tasks were pushed; each test takes samples of which nobody has said anything
    yet.
    """
    home = tmp_path_factory.mktemp("changed") / "home"
    with live_site(built_site, home, killable_studio) as live:
        live.site.push()
        yield live


def undecided(live: LiveSite, cause: str) -> str:
    """A sample that people are asked about for this cause, of which no word was pulled."""
    sql = (
        "select min(subject) from review_requests where cause = ? and subject not in (select"
        " subject from reviews)"
    )
    return str(live.site.value(sql, cause))


def reviews_of(live: LiveSite, subject: str) -> list[dict[str, Any]]:
    return live.site.rows(
        "select decision, annotation_id, withdrawn_at is null as stands from reviews where subject"
        " = ? order by reviewed_at",
        subject,
    )


def test_an_annotation_edited_after_the_pull_changes_the_decision(pushed: LiveSite) -> None:
    doubtful, spot = undecided(pushed, "doubtful"), undecided(pushed, "spot check")
    tasks = pushed.tasks()
    one, other = (
        pushed.people.annotate(tasks[doubtful], "accept"),
        pushed.people.annotate(tasks[spot], "accept"),
    )
    assert pushed.site.pull() == Pulled(reviews=2, accepted=2)
    assert pushed.site.accepted(doubtful)
    pushed.people.change(one, "reject", reasons="other")
    pushed.people.change(other, "reject", reasons="other")
    assert pushed.site.pull() == Pulled(reviews=2, rejected=2)
    assert pushed.site.accepted(doubtful) is pushed.site.accepted(spot) is None
    assert [row["decision"] for row in reviews_of(pushed, spot)] == ["accept", "reject"], (
        "what was said before is kept"
    )
    pushed.people.change(one, "accept")
    assert pushed.site.pull() == Pulled(reviews=1, accepted=1)
    assert pushed.site.accepted(doubtful)
    assert pushed.site.pull() == NOTHING_NEW
    assert pushed.site.value("select count(*) from acceptances where subject = ?", doubtful) == 1
    pushed.validate_all_is_there_once()
