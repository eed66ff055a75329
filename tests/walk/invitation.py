"""`python -m tests.walk.invitation HOME NAME`: somebody follows the invitation to the Label
Studio of a work folder.
"""

import sys
from pathlib import Path

import httpx

from callwright.annotation.studio.server import StudioPlaces, load_credentials
from tests.support.studio_users import StudioUser


def follow_invitation(home: Path, name: str) -> None:
    """Sign up as a browser does."""
    credentials = load_credentials(StudioPlaces(home))
    assert credentials is not None
    url = f"http://127.0.0.1:{credentials.port}"
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        link = http.get(
            "/api/invite", headers={"Authorization": f"Token {credentials.token}"}
        ).json()["invite_url"]
    with StudioUser(url, name) as person:
        person.sign_up(link)


if __name__ == "__main__":
    follow_invitation(Path(sys.argv[1]), sys.argv[2])
