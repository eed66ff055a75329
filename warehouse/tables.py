"""The tables and their columns: what a bulk insert carries."""

from typing import Literal

Column = Literal["text", "whole", "real", "flag", "texts", "moment", "json"]

# Column order is the reader's; a bulk insert goes by name.
TABLES: dict[str, dict[str, Column]] = {
    "stages": {"name": "text", "position": "whole", "stage_group": "text", "source": "text"},
    "builds": {"key": "text", "recipe": "text", "body": "json", "started_at": "moment", "finished_at": "moment"},
    "tools": {
        "key": "text", "name": "text", "category": "text", "language": "text", "source": "text",
        "description": "text", "parameters": "json", "returns": "json",
    },
    "build_tools": {"build": "text", "tool": "text"},
    "toolsets": {"key": "text", "body": "json", "started_at": "moment", "finished_at": "moment"},
    "made_tools": {"toolset": "text", "tool": "text", "draft": "text"},
    "build_checks": {"build": "text", "check_name": "text", "version": "text", "met_at": "moment"},
    "build_samples": {"build": "text", "sample": "text", "draft": "text"},
    "drafts": {
        "key": "text", "type": "text", "body": "json", "stage": "text", "parents": "texts", "model": "text",
        "prompt_version": "text", "planted": "text",
    },
    "samples": {
        "key": "text", "kind": "text", "language": "text", "category": "text", "request": "text", "gold": "json",
        "body": "json", "call_turns": "whole", "calls": "whole",
        "stage": "text", "parents": "texts", "seed": "whole", "model": "text", "prompt_version": "text", "planted": "text",
    },
    "outcomes": {
        "build": "text", "stage": "text", "subject": "text", "outcome": "text", "reason_code": "text", "reason": "text",
        "decided_by": "text", "decided_who": "text", "carried_from": "text", "made_at": "moment",
    },
    "verdicts": {
        "key": "text", "subject": "text", "check_name": "text", "decision": "text", "score": "real", "reason": "text",
        "evidence": "json", "version": "text", "made_at": "moment",
    },
    "failures": {
        "key": "text", "build": "text", "stage": "text", "subject": "text", "error": "text", "reason": "text", "made_at": "moment",
    },
    "review_requests": {
        "build": "text", "subject": "text", "kind": "text", "cause": "text", "reason": "text", "requested_at": "moment",
        "pushed_at": "moment", "server": "text", "reviewers": "whole", "overlap": "whole", "priority": "real",
        "against": "text",
    },
    "reviews": {
        "key": "text", "subject": "text", "kind": "text", "decision": "text", "reviewer": "text", "reviewed_at": "moment",
        "reasons": "texts", "comment": "text", "seconds": "real", "result": "text", "annotation_id": "whole",
        "task_id": "whole", "server": "text", "carried_from": "text", "withdrawn_at": "moment",
    },
    "review_rounds": {
        "subject": "text", "kind": "text", "version": "whole", "cause": "text", "request": "text", "calls": "text",
        "problem": "text", "reviewer": "text", "made_at": "moment", "pushed_at": "moment", "server": "text", "priority": "real",
        "against": "text",
    },
    "task_states": {
        "server": "text", "task_id": "whole", "kind": "text", "subject": "text", "version": "whole", "annotations": "whole",
        "skipped": "whole", "drafts": "whole", "seen_at": "moment", "deleted_at": "moment",
    },
    "gold_items": {
        "subject": "text", "kind": "text", "expected": "text", "defect": "text", "made_of": "text", "made_at": "moment",
    },
    "agreement": {
        "kind": "text", "measure": "text", "slice_by": "text", "slice_value": "text", "value": "real", "items": "whole",
        "reviewers": "whole", "computed_at": "moment",
    },
    "audit_draws": {
        "prediction": "text", "release": "text", "model": "text", "error_type": "text", "drawn_at": "moment",
    },
    "review_cursors": {"server": "text", "kind": "text", "pulled_until": "moment"},
    "acceptances": {
        "subject": "text", "build": "text", "recipe": "text", "proved": "flag", "accepted_by": "text",
        "decided_by": "text", "vouched": "flag",
        "accepted_at": "moment", "withdrawn_at": "moment",
    },
    "releases": {
        "name": "text", "key": "text", "content_hash": "text", "samples": "whole", "created_at": "moment", "note": "text",
    },
    "release_samples": {"release": "text", "subject": "text"},
    "predictions": {
        "key": "text", "release": "text", "subject": "text", "turn": "whole", "model": "text", "strategy": "text",
        "tools_shown": "text", "run": "whole", "text": "text", "calls": "json", "problem": "text", "settings": "text",
        "error_type": "text", "made_at": "moment",
    },
    "judge_verdicts": {
        "key": "text", "prediction": "text", "judge": "text", "agree": "flag", "reason": "text", "version": "text",
        "made_at": "moment",
    },
    "grades": {
        "key": "text", "prediction": "text", "judge": "text", "metric": "text", "value": "real", "count": "whole",
        "reason": "text", "version": "text", "made_at": "moment",
    },
    "multi_step_runs": {
        "key": "text", "release": "text", "subject": "text", "model": "text", "strategy": "text", "mode": "text", "run": "whole",
        "judge": "text", "settings": "text", "success": "flag", "correct_calls": "whole", "total_calls": "whole",
        "steps": "whole", "shortest": "whole", "turns": "whole", "error_type": "text", "error_parameter": "text",
        "parameter_type": "text", "completeness": "whole", "correctness": "whole", "messages": "json", "made_at": "moment",
    },
    "call_errors": {
        "key": "text", "run": "text", "turn": "whole", "call": "whole", "tool": "text", "error_type": "text",
        "parameter": "text", "parameter_type": "text", "reason": "text",
    },
    "parameter_counts": {"run": "text", "parameter_type": "text", "due": "whole", "wrong": "whole"},
    "scores": {
        "release": "text", "model": "text", "strategy": "text", "tools_shown": "text", "run": "whole", "judge": "text",
        "snapshots": "text", "metric": "text", "slice_by": "text", "slice_value": "text", "value": "real", "count": "whole",
    },
    "responses": {
        "environment": "text", "key": "text", "version": "whole", "tool": "text", "call": "json", "response": "json",
        "problem": "text", "recorded_at": "moment", "seen_at": "moment",
    },
    "lapses": {
        "environment": "text", "key": "text", "problem": "text", "call": "json", "times": "whole", "last_at": "moment",
    },
    "landed_shards": {"name": "text", "build": "text", "landed_at": "moment"},
    "llm_calls": {
        "request": "text", "build": "text", "stage": "text", "model": "text", "prompt_version": "text",
        "sample_index": "whole", "prompt_tokens": "whole", "completion_tokens": "whole", "cost": "real",
        "latency": "real", "cached": "flag", "planted": "text", "error": "text", "made_at": "moment",
    },
}  # fmt: skip
