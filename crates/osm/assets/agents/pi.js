
export default (pi) => {
  const payload = (ctx, event) => ({
    session_id: ctx?.sessionManager?.getSessionId?.(),
    cwd: ctx?.cwd,
    tool_name: event?.toolName,
    tool_input: event?.input,
  })
  let primed
  const forget = () => (primed = undefined)
  pi.on("session_start", forget)
  pi.on("session_compact", forget)
  pi.on("before_agent_start", async (event, ctx) => {
    primed ??= await ask("session-start", payload(ctx))
    if (primed.context) return { systemPrompt: `${event.systemPrompt ?? ""}\n\n${primed.context}` }
  })
  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask("before-tool", payload(ctx, event))
    if (answer.refusal) return { block: true, reason: answer.refusal }
  })
  pi.on("tool_result", async (event, ctx) => {
    const answer = await ask("after-tool", payload(ctx, event))
    if (answer.context && Array.isArray(event.content))
      return { content: [...event.content, { type: "text", text: answer.context }] }
  })
  pi.on("session_shutdown", async (_event, ctx) => void (await ask("session-end", payload(ctx))))
}
