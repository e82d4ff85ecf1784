import type { ServerResponse } from 'node:http'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import type { Exchange } from '../../apirequest/request-context.ts'
import { send } from '../../httpserver/response/respond.ts'

/** A health check; `problem` returns why it fails. */
export type Check = {
  readonly name: string
  readonly problem: () => string | undefined
  /** Whether its failure affects only its own path: no traffic stops, no process restarts. */
  readonly isPartial?: boolean
}

export type Probes = {
  /** Returns whether a path is /healthz, /livez, /readyz or below one of these. */
  readonly handles: (path: string) => boolean
  readonly handle: (exchange: Exchange) => void
  /** Makes only /readyz fail, so that load balancers stop sending requests. */
  readonly drain: () => void
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

const probePath = /^\/(healthz|livez|readyz)(?:\/([^/]*))?$/

export type Outcome = { readonly probe: string; readonly name: string; readonly isGood: boolean }

/**
 * Serves the health checks of a Kubernetes API server: `ok`, or with ?verbose one line per check.
 * ?exclude= skips a check; /readyz/<name> runs one. Checks that only kube-apiserver has are
 * proxied. Liveness does not depend on kube-apiserver, since restarting Kapis would not help.
 *
 * @param observe called with the result of each check
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
      respond(res, single === '' ? probe : `${probe}/${single}`, outcomes, query)
    },
  }
}

function respond(res: ServerResponse, probe: string, checks: readonly Check[], query: QueryParameters): void {
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
      // The path is public, so the cause is only in the log and the metrics.
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
