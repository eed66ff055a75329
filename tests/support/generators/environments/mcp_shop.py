"""An MCP server of a small shop: `python mcp_shop.py` speaks over its input and output, with a port
over HTTP on loopback.

Each call is written as a line to the file that SHOP_LOG names, so that tests see what was asked.
"""

import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

CUSTOMERS = {
    "c1": {"customer_id": "c1", "name": "Ada Lovelace", "city": "London"},
    "c2": {"customer_id": "c2", "name": "Grace Hopper", "city": "New York"},
    "c3": {"customer_id": "c3", "name": "Alan Turing", "city": "London"},
}
ORDERS = {
    7: {"order_id": 7, "customer_id": "c1", "status": "packed", "total": 12.5},
    8: {"order_id": 8, "customer_id": "c2", "status": "sent", "total": 3.0},
    9: {"order_id": 9, "customer_id": "c3", "status": "open", "total": 42.0},
}
READS = ToolAnnotations(read_only_hint=True)
shop = MCPServer("shop", log_level="CRITICAL")


def note(line: str) -> None:
    if log := os.environ.get("SHOP_LOG"):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {line}\n")


@shop.tool(annotations=READS)
def list_customers() -> list[dict[str, Any]]:
    """List the customers of the shop with their names and cities."""
    note("list_customers")
    return list(CUSTOMERS.values())


@shop.tool(annotations=READS, structured_output=False)
def read_customer(customer_id: str) -> dict[str, Any]:
    """Read a customer of the shop."""
    note(f"read_customer {customer_id}")
    if customer_id not in CUSTOMERS:
        raise ValueError(f"There is no customer {customer_id}.")
    return CUSTOMERS[customer_id]


@shop.tool(annotations=READS)
def list_orders(customer_id: str, status: str = "any") -> list[dict[str, Any]]:
    """List the orders of a customer."""
    note(f"list_orders {customer_id} {status}")
    return [one for one in ORDERS.values() if one["customer_id"] == customer_id]


@shop.tool(annotations=READS)
def read_order(order_id: int, tenant: str) -> dict[str, Any]:
    """Read an order of the shop with its status and its total."""
    note(f"read_order {order_id} {tenant}")
    return ORDERS.get(order_id, {})


@shop.tool()
def delete_customer(customer_id: str) -> str:
    """Delete a customer of the shop."""
    note(f"delete_customer {customer_id}")
    return "deleted"


@shop.tool()
def send_note(text: str) -> str:
    """Send a note to the people of the shop."""
    note(f"send_note {text}")
    return "sent"


@shop.tool(annotations=READS, structured_output=False)
def wait(seconds: float = 30.0) -> str:
    """Wait for some seconds."""
    import time

    time.sleep(seconds)
    return "waited"


@shop.tool(annotations=READS, structured_output=False)
def leave() -> str:
    """Leave without a word."""
    os._exit(3)


if __name__ == "__main__":
    note("started")
    if len(sys.argv) > 1:
        shop.run("streamable-http", port=int(sys.argv[1]))
    else:
        shop.run("stdio")
