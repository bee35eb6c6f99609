// Written by `osm agent install`, and removed by `osm agent remove`. It asks osm before an edit, and tells the
// model what osm answers. Without osm, or if osm fails, nothing changes.
import { spawn } from "node:child_process"

const ask = (moment, payload) =>
  new Promise((resolve) => {
    const child = spawn("osm", ["agent", "hook", moment], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), 30000)
    let output = ""
    const end = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(output))
      } catch {
        resolve({})
      }
    }
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (text) => (output += text))
    child.stdin.end(JSON.stringify(payload))
  })
