// Asks `ctl mcp` through the TypeScript SDKs and prints what came as JSON:
// client.mjs v1|legacy|auto CTL QUERY. `v1` is the package of the first era, the others are modes of
// the second.
const [era, ctl, query] = process.argv.slice(2);
const load = async () => {
  if (era === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return { Client, StdioClientTransport, options: {} };
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return { Client, StdioClientTransport, options: { versionNegotiation: { mode: era } } };
};
const { Client, StdioClientTransport, options } = await load();
const client = new Client({ name: "test", version: "1.0.0" }, options);
await client.connect(new StdioClientTransport({ command: ctl, args: ["mcp"], env: { ...process.env } }));
const { tools } = await client.listTools();
const pack = await client.callTool({ name: "build_context_pack", arguments: { query } });
const wrong = await client.callTool({ name: "callers", arguments: { symbol: "nowhere_at_all" } });
console.log(JSON.stringify({
  version: client.getNegotiatedProtocolVersion?.() ?? null,
  tools: tools.map((tool) => tool.name),
  text: pack.content[0].text,
  wrong: wrong.isError ? wrong.content[0].text : null,
}));
await client.close();
