import { parseArgs } from 'node:util'
import { http } from '../../pkg/httpserver/node-http.ts'
import { type Command, UsageError } from './command.ts'

/** An exec probe, since the kubelet cannot connect to a Unix socket. */
export const probe: Command = {
  usage: `--socket FILE [PATH]

Sends GET PATH (default /livez) to a Unix socket and fails unless the response is 200.

  --socket FILE   the Unix socket
  --timeout MS    how long to wait for the response (default 5000)
`,
  examples: `
  kapis probe --socket /run/kapis/oauth.sock /readyz
`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { socket: { type: 'string' }, timeout: { type: 'string', default: '5000' } },
    })
    const { socket } = values
    if (socket === undefined) throw new UsageError('missing --socket FILE')
    if (!/^\d{1,6}$/.test(values.timeout))
      throw new UsageError(
        `invalid --timeout ${JSON.stringify(values.timeout)}: expected a number of milliseconds`,
      )
    const path = positionals[0] ?? '/livez'
    const response = await get(socket, path, Number(values.timeout))
    if (response === '200') return 0
    io.err(`${path} on ${socket}: ${response}\n`)
    return 1
  },
}

/** Returns the status of the response, or why there is no response. */
function get(socketPath: string, path: string, timeout: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const req = http.get({ socketPath, path, agent: false, timeout }, res => {
    res.resume()
    resolve(String(res.statusCode))
  })
  req.on('timeout', () => req.destroy(new Error(`timed out after ${timeout} ms`)))
  req.on('error', error => resolve(error.message))
  return promise
}
