import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'

// node token-load.ts URL CA-FILE TOKENS-FILE CONNECTIONS SECONDS: GET with one token after the other of the file, over as many
// connections as said, in a process of its own. Prints how many were answered with 200 a second; any other answer ends it.

const [url = '', caFile = '', tokensFile = '', connections = '', seconds = ''] = process.argv.slice(2)
const tokens = readFileSync(tokensFile, 'utf8').split('\n').filter(Boolean)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections), ca: readFileSync(caFile) })
const untilMs = performance.now() + Number(seconds) * 1000
let next = 0
let done = 0

function ask(): Promise<void> {
  const authorization = `Bearer ${tokens[next++ % tokens.length]}`
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const req = request(url, { agent, headers: { authorization } }, res => {
    res.resume()
    res.once('end', () => (res.statusCode === 200 ? resolve() : reject(new Error(`${res.statusCode}`))))
  })
  req.once('error', reject)
  req.end()
  return promise
}

async function work(): Promise<void> {
  while (performance.now() < untilMs) {
    await ask()
    done++
  }
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, work))
console.log((done / ((performance.now() - startedAt) / 1000)).toFixed(3))
agent.destroy()
