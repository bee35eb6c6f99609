"""The official Python client against osm: prints one line for each thing that a test looks at."""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main(osm, repository):
    updated = asyncio.Queue()

    async def heard(message):
        params = getattr(getattr(message, "root", message), "params", None)
        if getattr(params, "uri", None):
            await updated.put(str(params.uri))

    server = StdioServerParameters(
        command=osm, args=["mcp", "--session", "python"], cwd=repository, env=dict(os.environ)
    )
    async with (
        stdio_client(server) as streams,
        ClientSession(*streams, message_handler=heard) as client,
    ):
        about = await client.initialize()
        print("server", about.server_info.name)
        print("tools", *[tool.name for tool in (await client.list_tools()).tools])
        claimed = await client.call_tool("claim", {"resources": ["T-1"]})
        print("claimed", claimed.is_error, claimed.structured_content["claim"]["resource"])
        refused = await client.call_tool("claim", {"resources": ["held"]})
        print("refused", refused.is_error, refused.structured_content["reason"])
        try:
            await client.call_tool("claim", {"resource": "x"})
        except Exception as error:
            print("error", error)
        await client.subscribe_resource("osm://claims")
        elsewhere = await asyncio.create_subprocess_exec(
            osm, "claim", "T-2", "--session", "other", cwd=repository, stdout=asyncio.subprocess.DEVNULL
        )
        assert await elsewhere.wait() == 0
        print("updated", await updated.get())
        claims = (await client.read_resource("osm://claims")).contents[0].text
        print("read", "T-2" in claims)
        prompt = await client.get_prompt("commit-message")
        print("prompt", "Imperative mood" in prompt.messages[0].content.text)


asyncio.run(main(*sys.argv[1:]))
