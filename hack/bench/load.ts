import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export type Load = {
  readonly url: string
  readonly connections: number
  /** Duration; requests in progress at its end are not counted. */
  readonly seconds: number
  /** Number of requests instead of a duration; a multiple of `connections`. */
  readonly requests?: number
  readonly token?: string
  readonly gzip?: boolean
  /** Body of POST requests; without it the requests are GET. */
  readonly form?: string
  /** CPUs for the client, in the syntax of taskset. */
  readonly cores?: string
  /** Maximum request rate of each connection, to observe a server under other load. */
  readonly perSecond?: number
}

export type Outcome = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number }

const run = promisify(execFile)
let client: Promise<string> | undefined

/** Builds the load client once; later builds are fast because of the cache of Go. */
async function buildLoadClient(): Promise<string> {
  const hey = join(mkdtempSync(join(tmpdir(), 'kapis-bench-')), 'hey')
  process.once('exit', () => rmSync(dirname(hey), { recursive: true, force: true }))
  await run('go', ['build', '-o', hey, 'github.com/rakyll/hey'], { cwd: import.meta.dirname })
  return hey
}

/**
 * Keeps `connections` requests in flight for `seconds`.
 *
 * @throws Error for any status other than 200, since the throughput of errors is meaningless
 */
export async function measure(load: Load): Promise<Outcome> {
  client ??= buildLoadClient()
  const hey = await client
  const command = [...(load.cores === undefined ? [] : ['taskset', '-c', load.cores]), hey, ...toArgs(load)]
  const { stdout } = await run(command[0] ?? hey, command.slice(1)).catch(({ code, stderr }) => {
    // The error of spawn is not passed on: it contains all arguments, including the token.
    throw new Error(`the load client ended with ${code}: ${stderr}`)
  })
  const statuses = [...stdout.matchAll(/^\s+\[(\d{3})\]\s+(\d+) responses/gm)]
  const total = Number(/Total:\s+([\d.]+) secs/.exec(stdout)?.[1])
  const ok = Number(statuses.find(([, code]) => code === '200')?.[2] ?? 0)
  if (statuses.length !== 1 || ok === 0)
    throw new Error(`${load.url} responded with other statuses than 200:\n${stdout.slice(-800)}`)
  const quantileMs = (percent: number) =>
    Number(new RegExp(`${percent}%%? in ([\\d.]+) secs`).exec(stdout)?.[1] ?? Number.NaN) * 1000
  return { perSecond: ok / total, p50Ms: quantileMs(50), p99Ms: quantileMs(99) }
}

/** Measures loads alternately in rounds; the first one, in which V8 compiles, is not counted. */
export async function measureByTurns(
  loads: readonly Load[],
  { rounds, warmSeconds }: { readonly rounds: number; readonly warmSeconds: number },
): Promise<readonly (readonly Outcome[])[]> {
  for (const load of loads) await measure({ ...load, seconds: warmSeconds })
  const outcomes = loads.map((): Outcome[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, load] of loads.entries()) outcomes[i]?.push(await measure(load))
  }
  return outcomes
}

export function perSecond(outcomes: readonly Outcome[] = []): readonly number[] {
  return outcomes.map(outcome => outcome.perSecond)
}

/**
 * Returns the mean milliseconds of a request, from the requests per second: quantiles of the load
 * client have a resolution of 0.1 ms, a quarter of some values.
 */
export function meanMs(connections: number, outcomes: readonly Outcome[] = []): readonly number[] {
  return perSecond(outcomes).map(each => (connections * 1000) / each)
}

function toArgs(load: Load): readonly string[] {
  const length = load.requests === undefined ? ['-z', `${load.seconds}s`] : ['-n', String(load.requests)]
  // The gzip header is set explicitly, so that the client does not decompress and only the server
  // is measured.
  const args = [...length, '-c', String(load.connections), '-disable-compression']
  if (load.gzip) args.push('-H', 'Accept-Encoding: gzip')
  if (load.form !== undefined)
    args.push('-m', 'POST', '-T', 'application/x-www-form-urlencoded', '-d', load.form)
  if (load.perSecond !== undefined) args.push('-q', String(load.perSecond))
  if (load.token !== undefined) args.push('-H', `Authorization: Bearer ${load.token}`)
  return [...args, load.url]
}
