"""A small music service, like those that people know: its OpenAPI document, and a server of it."""

import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_ARTISTS = {"art1": "Nina Simone", "art2": "Miles Davis", "art3": "Billie Holiday"}
_ALBUMS = {
    "alb1": ("art1", "Pastel Blues", 1965),
    "alb2": ("art1", "Wild Is the Wind", 1966),
    "alb3": ("art2", "Kind of Blue", 1959),
    "alb4": ("art2", "Bitches Brew", 1970),
    "alb5": ("art3", "Lady in Satin", 1958),
}
_TRACKS = {
    "trk1": ("alb1", "Sinnerman", 618),
    "trk2": ("alb1", "Strange Fruit", 210),
    "trk3": ("alb2", "Four Women", 264),
    "trk4": ("alb3", "So What", 545),
    "trk5": ("alb3", "Blue in Green", 337),
    "trk6": ("alb4", "Spanish Key", 1049),
    "trk7": ("alb5", "Violets for Your Furs", 205),
}


def _artist(key: str) -> dict[str, Any]:
    return {
        "id": key,
        "name": _ARTISTS[key],
        "albums": sum(one[0] == key for one in _ALBUMS.values()),
    }


def _album(key: str) -> dict[str, Any]:
    artist, name, year = _ALBUMS[key]
    return {"id": key, "name": name, "year": year, "artist_id": artist}


def _track(key: str) -> dict[str, Any]:
    album, name, seconds = _TRACKS[key]
    return {"id": key, "name": name, "seconds": seconds, "album_id": album}


def music_answer(target: str) -> Any:
    """What the service says to a target, None for what it does not know."""
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    path = unquote(parts.path)
    if query.get("market") != "SE":
        return None
    if path == "/artists":
        return {
            "items": [
                _artist(key) for key, name in _ARTISTS.items() if query.get("name", "") in name
            ]
        }
    found = re.fullmatch(r"/(artists|albums|tracks)/(\w+)(/\w+)?", path)
    if found is None:
        return None
    kind, key, inner = found.groups()
    if inner == "/albums" and key in _ARTISTS:
        return {"items": [_album(one) for one, album in _ALBUMS.items() if album[0] == key]}
    if inner == "/tracks" and key in _ALBUMS:
        return {"items": [_track(one) for one, track in _TRACKS.items() if track[0] == key]}
    known = {
        "artists": (_ARTISTS, _artist),
        "albums": (_ALBUMS, _album),
        "tracks": (_TRACKS, _track),
    }[kind]
    return known[1](key) if inner is None and key in known[0] else None


_MARKET = {
    "name": "market",
    "in": "query",
    "required": True,
    "schema": {"type": "string"},
    "description": "The market.",
}


def _object(title: str, **members: str) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in members.items()},
    }


def _get(
    name: str, summary: str, returns: dict[str, Any], *parameters: dict[str, Any]
) -> dict[str, Any]:
    content = {"application/json": {"schema": returns}}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "tags": ["Music"],
            "parameters": [*parameters, _MARKET],
            "responses": {"200": {"description": "Found.", "content": content}},
        }
    }


def _at(name: str, thing: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": {"type": "string"},
        "description": f"The id of the {thing}.",
    }


def _list(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"items": {"type": "array", "items": schema}}}


_OF_ARTIST = _object("Artist", id="string", name="string", albums="integer")
_OF_ALBUM = _object("Album", id="string", name="string", year="integer", artist_id="string")
_OF_TRACK = _object("Track", id="string", name="string", seconds="integer", album_id="string")
_NAME = {
    "name": "name",
    "in": "query",
    "required": True,
    "description": "The name of the artist.",
    "schema": {"type": "string", "examples": [*_ARTISTS.values()]},
}
MUSIC = {
    "openapi": "3.1.0",
    "info": {"title": "Music", "version": "1"},
    "paths": {
        "/artists": _get("search_artists", "Search artists by name.", _list(_OF_ARTIST), _NAME),
        "/artists/{id}": _get("get_artist", "Get an artist.", _OF_ARTIST, _at("id", "artist")),
        "/artists/{id}/albums": _get(
            "get_artist_albums",
            "Get the albums of an artist.",
            _list(_OF_ALBUM),
            _at("id", "artist"),
        ),
        "/albums/{id}": _get("get_album", "Get an album.", _OF_ALBUM, _at("id", "album")),
        "/albums/{id}/tracks": _get(
            "get_album_tracks", "Get the tracks of an album.", _list(_OF_TRACK), _at("id", "album")
        ),
        "/tracks/{id}": _get("get_track", "Get a track.", _OF_TRACK, _at("id", "track")),
    },
}
