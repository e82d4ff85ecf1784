import { type ChildProcess, execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type Load = {
  readonly url: string
  readonly connections: number
  /** What is under way when the time is over is not counted. */
  readonly seconds: number
  /** So many instead, each of them to its end; a multiple of `connections`. */
  readonly requests?: number
  readonly token?: string
  /** Further lines of the head. */
  readonly headers?: readonly string[]
  readonly gzip: boolean
  /** Body of a POST; without it the requests are GET. */
  readonly form?: string
  /** Where the client is to run, as taskset has it. */
  readonly cores?: string
  /** Of each connection, at most: to watch a server that others keep busy. */
  readonly perSecond?: number
}

export type Outcome = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number }

/** A request of a load: when it began, as performance.now() has it to some hundredths of a second, and how long it took. */
export type Answered = { readonly at: number; readonly ms: number }

const run = promisify(execFile)

/** Builds the load client once; Go's own cache makes the next time instant. */
export async function buildLoadClient(directory: string, output: string): Promise<string> {
  await run('go', ['build', '-o', output, 'github.com/rakyll/hey'], { cwd: directory })
  return output
}

/**
 * Keeps `connections` requests in flight for `seconds`.
 *
 * @throws Error when anything but 200 came back: the figure of a server that refuses is worth nothing
 */
export async function measure(hey: string, load: Load): Promise<Outcome> {
  const length = load.requests === undefined ? ['-z', `${load.seconds}s`] : ['-n', String(load.requests)]
  const stdout = await runClient(hey, load, length).output
  const statuses = [...stdout.matchAll(/^\s+\[(\d{3})\]\s+(\d+) responses/gm)]
  const total = Number(/Total:\s+([\d.]+) secs/.exec(stdout)?.[1])
  const ok = Number(statuses.find(([, code]) => code === '200')?.[2] ?? 0)
  if (statuses.length !== 1 || ok === 0) throw new Error(refused(load, stdout))
  const quantileMs = (percent: number) =>
    Number(new RegExp(`${percent}%%? in ([\\d.]+) secs`).exec(stdout)?.[1] ?? Number.NaN) * 1000
  return { perSecond: ok / total, p50Ms: quantileMs(50), p99Ms: quantileMs(99) }
}

/**
 * The same until it is ended, for at most `seconds`; then each single request.
 *
 * @throws Error as {@link measure} does
 */
export function startLoad(hey: string, load: Load): { readonly end: () => Promise<readonly Answered[]> } {
  const startedAt = performance.now()
  const running = runClient(hey, load, ['-z', `${load.seconds}s`, '-o', 'csv'])
  // Told by `end`.
  running.output.catch(() => {})
  return {
    async end() {
      running.child.kill('SIGINT')
      const stdout = await running.output
      const [head, ...rows] = stdout.trim().split('\n')
      const names = head?.split(',') ?? []
      const cells = rows.map(row => row.split(','))
      const cell = (row: readonly string[], name: string): string => row[names.indexOf(name)] ?? ''
      if (cells.length === 0 || cells.some(row => cell(row, 'status-code') !== '200'))
        throw new Error(refused(load, stdout))
      return cells.map(row => ({
        at: startedAt + Number(cell(row, 'offset')) * 1000,
        ms: Number(cell(row, 'response-time')) * 1000,
      }))
    },
  }
}

type Client = { readonly child: ChildProcess; readonly output: Promise<string> }

function runClient(hey: string, load: Load, length: readonly string[]): Client {
  // Asked for by hand, gzip is not unpacked by the client: what is measured is the server.
  const args = [...length, '-c', String(load.connections), '-disable-compression']
  if (load.gzip) args.push('-H', 'Accept-Encoding: gzip')
  if (load.form !== undefined)
    args.push('-m', 'POST', '-T', 'application/x-www-form-urlencoded', '-d', load.form)
  if (load.perSecond !== undefined) args.push('-q', String(load.perSecond))
  if (load.token !== undefined) args.push('-H', `Authorization: Bearer ${load.token}`)
  for (const line of load.headers ?? []) args.push('-H', line)
  const command = [...(load.cores === undefined ? [] : ['taskset', '-c', load.cores]), hey, ...args, load.url]
  const running = run(command[0] ?? hey, command.slice(1), { maxBuffer: 64 * 1024 * 1024 })
  const output = running.then(
    ({ stdout }) => stdout,
    // Its own error has all arguments, and so the token.
    ({ code, stderr }) => Promise.reject(new Error(`the load client ended with ${code}: ${stderr}`)),
  )
  return { child: running.child, output }
}

function refused({ url }: Load, stdout: string): string {
  return `${url} did not answer with 200 alone:\n${stdout.slice(-800)}`
}

/** The median of several rounds; one round on a busy machine says little. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The value that all but one of a hundred do not exceed. */
export function percentile99(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
