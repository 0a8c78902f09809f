"""Asks `ctl mcp` through the Python SDK and prints what came as JSON: client.py ERA CTL QUERY."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(era: str, ctl: str, query: str) -> None:
    server = StdioServerParameters(command=ctl, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=era) as client:
        tools = (await client.list_tools()).tools
        pack = await client.call_tool("build_context_pack", {"query": query})
        wrong = await client.call_tool("callers", {"symbol": "nowhere_at_all"})
        print(json.dumps({
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "text": pack.content[0].text,
            "wrong": wrong.content[0].text if wrong.is_error else None,
        }))


asyncio.run(main(*sys.argv[1:]))
