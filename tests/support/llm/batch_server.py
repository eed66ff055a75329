"""A small provider of batches on loopback: files and batches as OpenAI has them, over real HTTP."""

import asyncio
from collections import Counter
from collections.abc import Callable

import orjson
from aiohttp import web

Line = dict  # of a result file
EXPIRED = {
    "code": "batch_expired",
    "message": "This request could not be executed before the window expired.",
}


class BatchServer:
    """Answers each line by `behaviour`, and is done with a batch after it was looked at `looks`
    times.
    """

    def __init__(self, completion: Callable[[str], dict]) -> None:
        self.url = ""
        self.looks = 1
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.paid: Counter[str] = Counter()  # how often each request was answered
        self.calls: Counter[str] = Counter()
        self.refuse: dict[str, tuple[int, dict]] = {}  # the next call of an endpoint
        self.lose: set[str] = set()  # endpoints whose next answer is cut off after the deed
        self.keep_back: set[str] = set()  # endpoints that do what they are asked and never say so
        self.status = "completed"
        self._completion = completion
        self.behaviour: Callable[[dict, int], Line] = lambda body, times: self.well()

    def well(self, text: str = '{"city":"Lyon","days":2}') -> Line:
        return {
            "response": {"status_code": 200, "request_id": "r", "body": self._completion(text)},
            "error": None,
        }

    def refused(self, status: int, message: str) -> Line:
        body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
        return {"response": {"status_code": status, "request_id": "r", "body": body}, "error": None}

    def expired(self) -> Line:
        return {"response": None, "error": EXPIRED}

    def application(self) -> web.Application:
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._look)
        return app

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()
        return await self._answer(
            request, "upload", {"id": name, "object": "file", "purpose": "batch"}
        )

    async def _create(self, request: web.Request) -> web.StreamResponse:
        wish = await request.json()
        assert (wish["endpoint"], wish["completion_window"]) == ("/v1/chat/completions", "24h")
        if "create" in self.refuse:
            return await self._answer(request, "create", {})
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "status": "in_progress",
            "looks": 0,
            **wish,
        }
        return await self._answer(request, "create", self.batches[name])

    async def _list(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(
            request, "list", {"object": "list", "data": list(self.batches.values())}
        )

    async def _look(self, request: web.Request) -> web.StreamResponse:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return web.json_response(
                {"error": {"message": "No such batch", "code": None}}, status=404
            )
        batch["looks"] += 1
        if batch["looks"] > self.looks and batch["status"] == "in_progress":
            self._work(batch)
        return await self._answer(request, "look", batch)

    async def _content(self, request: web.Request) -> web.StreamResponse:
        self.calls["content"] += 1
        return web.Response(body=self.files[request.match_info["id"]])

    def _work(self, batch: dict) -> None:
        batch["status"] = self.status
        if self.status == "failed":
            batch["errors"] = {
                "data": [{"code": "invalid_json_line", "message": "This line is not valid."}]
            }
            return
        results: dict[str, list[Line]] = {"output_file_id": [], "error_file_id": []}
        for written in self.files[batch["input_file_id"]].splitlines():
            line = orjson.loads(written)
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
            said = self.behaviour(line["body"], self.paid[line["custom_id"]])
            is_well = bool(said["response"]) and said["response"]["status_code"] == 200
            self.paid[line["custom_id"]] += 1 if is_well else 0
            results["output_file_id" if is_well else "error_file_id"].append(
                {"custom_id": line["custom_id"], **said}
            )
        for place, lines in results.items():
            if lines:
                batch[place] = f"file-{len(self.files)}"
                self.files[batch[place]] = b"\n".join(
                    orjson.dumps(line) for line in reversed(lines)
                )

    async def _answer(self, request: web.Request, endpoint: str, body: dict) -> web.StreamResponse:
        self.calls[endpoint] += 1
        if endpoint in self.keep_back:
            await asyncio.Event().wait()
        if endpoint in self.lose:
            self.lose.discard(endpoint)
            assert request.transport is not None
            request.transport.abort()
        status, told = self.refuse.pop(endpoint, (200, body))
        return web.json_response(told, status=status)
