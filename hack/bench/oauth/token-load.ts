import { readFileSync } from 'node:fs'
import { forEach } from '../../controlplane/for-each.ts'

// Usage: node token-load.ts URL TOKENS-FILE CONNECTIONS REQUESTS. Sends GET requests with the
// tokens of the file in turn, from a separate process. Prints the responses per second. Exits at
// any status other than 200.

// Not verified, since certificate verification is not measured.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
const [url = '', tokensFile = '', connections = '', requests = ''] = process.argv.slice(2)
const tokens = readFileSync(tokensFile, 'utf8').split('\n').filter(Boolean)
const startedAt = performance.now()
await forEach(
  0,
  Number(requests),
  async i => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${tokens[i % tokens.length]}` } })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${url} responded with ${response.status}`)
  },
  Number(connections),
)
console.log((Number(requests) / ((performance.now() - startedAt) / 1000)).toFixed(3))
