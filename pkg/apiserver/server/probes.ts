import type { ServerResponse } from 'node:http'
import type { QueryParameters } from '../../apirequest/query-parameters.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { send } from '../../httpserver/respond.ts'

/** One thing that must be so; `problem` says why it is not. */
export type Check = {
  readonly name: string
  readonly problem: () => string | undefined
  /**
   * Fails only when it is asked for by its name: what else the server does must not end with it.
   */
  readonly isPartial?: boolean
}

export type Probes = {
  /** Whether the path is one of /healthz, /livez, /readyz or a single check of Kapis below one of them. */
  readonly handles: (path: string) => boolean
  readonly handle: (exchange: Exchange) => void
  /** Makes /readyz red while everything else goes on, so that traffic moves away before the server does. */
  readonly drain: () => void
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

const probePath = /^\/(healthz|livez|readyz)(?:\/([^/]*))?$/

export type Outcome = { readonly probe: string; readonly name: string; readonly isGood: boolean }

/**
 * The probes of a Kubernetes API server: `ok`, or with ?verbose a line for each check; ?exclude= leaves one out; /readyz/<name>
 * is one alone, and kube-apiserver answers for those that only it has. Liveness asks only whether the process serves: a
 * kube-apiserver that does not answer is no reason to restart.
 *
 * @param observe called with the outcome of each check that is made
 */
export function createProbes(
  readiness: readonly Check[],
  observe: (outcome: Outcome) => void = () => undefined,
): Probes {
  let isDraining = false
  const ping: Check = { name: 'ping', problem: () => undefined }
  const shutdown: Check = { name: 'shutdown', problem: () => (isDraining ? 'shutting down' : undefined) }
  const checks = new Map<string, readonly Check[]>([
    ['healthz', [ping, ...readiness]],
    ['livez', [ping]],
    ['readyz', [ping, ...readiness, shutdown]],
  ])
  function find(path: string) {
    const [, probe = '', single = ''] = probePath.exec(path) ?? []
    const all = checks.get(probe) ?? []
    return { probe, single, checks: single === '' ? all : all.filter(({ name }) => name === single) }
  }
  return {
    handles: path => find(path).checks.length > 0,
    drain: () => {
      isDraining = true
    },
    handle({ res, info, query }) {
      const { probe, single, checks } = find(info.path)
      const outcomes = checks.map(({ name, problem, isPartial }) => ({
        name,
        isPartial: isPartial === true && single === '',
        problem() {
          const found = problem()
          observe({ probe, name, isGood: found === undefined })
          return found
        },
      }))
      answer(res, single === '' ? probe : `${probe}/${single}`, outcomes, query)
    },
  }
}

function answer(res: ServerResponse, probe: string, checks: readonly Check[], query: QueryParameters): void {
  const excluded = new Set(query.getAll('exclude'))
  const unknown = [...excluded].filter(name => !checks.some(check => check.name === name))
  const lines: string[] = []
  let isHealthy = true
  for (const { name, problem, isPartial } of checks) {
    if (excluded.has(name)) {
      lines.push(`[+]${name} excluded: ok`)
    } else if (problem() === undefined) {
      lines.push(`[+]${name} ok`)
    } else {
      // Anyone may ask: the reason is for the log and the metrics.
      lines.push(`[-]${name} failed: reason withheld`)
      if (isPartial !== true) isHealthy = false
    }
  }
  if (unknown.length > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${unknown.map(name => JSON.stringify(name)).join(',')}`,
    )
  lines.push(`${probe} check ${isHealthy ? 'passed' : 'failed'}`)
  const isVerbose = query.has('verbose') || !isHealthy
  send(res, isHealthy ? 200 : 500, Buffer.from(isVerbose ? `${lines.join('\n')}\n` : 'ok'), plainText)
}
