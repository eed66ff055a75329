"""The demo: builds a dataset with every real part, from a tool catalog to a report."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from callwright.flows.progress import Progress
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings, open_warehouse, read_settings, use_prefect
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import Release
from callwright.warehouse.templates import sandbox

if TYPE_CHECKING:
    from callwright.flows.api.evaluating import Evaluation

RELEASE = "demo"


class DemoResult(NamedTuple):
    """The results of the demo, and where to look at them."""

    build: BuildReport
    release: Release
    leaderboard: list[dict[str, object]]
    tasks_pushed: int
    tasks_with_people: int
    label_studio: str
    username: str
    password: str
    prefect: str
    report: Path
    database: Path

    def lines(self) -> list[str]:
        """Return the result as lines for a terminal."""
        text = files("callwright.flows").joinpath("demo.txt.j2").read_text(encoding="utf-8")
        page = sandbox(trim_blocks=True, lstrip_blocks=True).from_string(text)
        rendered: str = page.render(
            self._asdict(), width=max(len(row.stage) for row in self.build.funnel)
        )
        return rendered.splitlines()


def demo_recipe() -> Path:
    """Return the path of the demo's recipe."""
    return Path(str(files("callwright.recipes").joinpath("demo.yaml")))


def run_demo(settings: Settings, progress: Progress) -> DemoResult:
    """Run the demo; a second run finds everything done and only reads the results."""
    require_extra("flows")
    require_extra("review")
    from callwright.flows.engine.deploying import client_folder, start_prefect
    from callwright.flows.review.servers import serve_label_studio

    with ThreadPoolExecutor(1) as waiting:
        # the slowest to start, so it starts first
        studio = waiting.submit(serve_label_studio, settings, progress.say)
        prefect = start_prefect(settings, progress.say)
        use_prefect(prefect.api, client_folder(settings))
        from callwright.flows.engine.deploying import build_with_prefect, in_a_run

        shown = read_settings()  # they name the server now
        progress.say(f"Building {demo_recipe().name}. See it in Prefect at {prefect.url}/runs")
        build = build_with_prefect(demo_recipe(), {}, progress)
        release = in_a_run(
            shown, "create-release", RELEASE, lambda _progress: _release(settings), progress
        )
        evaluation = in_a_run(
            shown, "evaluate-models", RELEASE, lambda told: _evaluate(settings, told), progress
        )
        server = studio.result()
    from callwright.flows.review.pushing import push_reviews
    from callwright.flows.review.servers import local_label_studio
    from callwright.flows.review.status import review_status

    with local_label_studio(server) as reviewing:
        pushed = in_a_run(
            shown,
            "push-reviews",
            "all recipes",
            lambda told: push_reviews(settings, reviewing, told),
            progress,
        )
    from callwright.flows.pages.report import write_report
    from callwright.warehouse.publish import publish

    warehouse = open_warehouse(settings)
    report = write_report(warehouse, settings.home / "report.html")
    database = publish(warehouse, settings.published).database
    return DemoResult(
        build=build,
        release=release,
        leaderboard=evaluation.leaderboard,
        tasks_pushed=pushed.created,
        tasks_with_people=sum(row["with_people"] for row in review_status(settings)["samples"]),
        label_studio=pushed.url,
        username=server.username,
        password=server.password,
        prefect=f"{prefect.url}/runs",
        report=report,
        database=database,
    )


def _release(settings: Settings) -> Release:
    from callwright.warehouse.releases import create_release, list_releases

    warehouse = open_warehouse(settings)
    known = [release for release in list_releases(warehouse) if release.name == RELEASE]
    if known:
        return known[0]
    return create_release(warehouse, RELEASE, ("demo",), "What the demo's first build landed.")


def _evaluate(settings: Settings, progress: Progress) -> "Evaluation":
    from callwright.flows.api.evaluating import evaluate
    from callwright.flows.evaluation.evaluation_run import choose_candidates

    return evaluate(
        RELEASE, choose_candidates([], demo_recipe()), home=settings.home, progress=progress
    )


def stop_servers(settings: Settings) -> list[str]:
    """Stop the servers of this work folder, and return the names of those that were running."""
    from callwright.flows.engine.deploying import stop_prefect
    from callwright.flows.review.servers import stop_label_studio

    servers: dict[str, Callable[[Settings], bool]] = {
        "Label Studio": stop_label_studio,
        "Prefect": stop_prefect,
    }
    return [name for name, stop in servers.items() if stop(settings)]
