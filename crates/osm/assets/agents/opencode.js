
export const Osm = async ({ directory }) => {
  const parents = new Map() // sub-agent -> its agent
  const primed = new Map()
  const payload = (id, tool, input) => ({
    session_id: parents.get(id) ?? id,
    agent_id: parents.has(id) ? id : undefined,
    cwd: directory,
    tool_name: tool,
    tool_input: input,
  })
  return {
    config: async (config) => {
      config.mcp ??= {}
      config.mcp.osm ??= { type: "local", command: ["osm", "mcp"], enabled: true }
    },
    event: async ({ event }) => {
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (event.type === "session.compacted") primed.delete(event.properties?.sessionID)
      if (event.type === "session.deleted" && info?.id) await ask("session-end", payload(info.id))
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask("before-tool", payload(input.sessionID, input.tool, output.args))
      if (answer.refusal) throw new Error(answer.refusal)
    },
    "tool.execute.after": async (input, output) => {
      const answer = await ask("after-tool", payload(input.sessionID, input.tool, input.args ?? output.args))
      if (answer.context && typeof output.output === "string") output.output += "\n\n" + answer.context
    },
    "shell.env": async (input, output) => {
      if (parents.has(input.sessionID)) output.env.OSM_CONTEXT_ID = input.sessionID
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input?.sessionID ?? ""
      if (!primed.has(id)) primed.set(id, await ask("session-start", payload(id)))
      const { context } = primed.get(id)
      if (context) output.system.push(context)
    },
  }
}
