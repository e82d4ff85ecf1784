import type { Tracing, TracingOptions } from './tracing.ts'

/** Nothing is traced. */
const off: Tracing = {
  listener: listener => listener,
  authenticate: find => find,
  client: client => client,
  upstream: (_peer, forward) => forward,
  stop: async () => undefined,
}

/**
 * Traces a program as its configuration says. The libraries are loaded when there is an endpoint alone: they take a tenth of
 * a second and ten megabytes.
 *
 * @throws Error when the file of authorities cannot be read
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  if (options.config.endpoint === '') return off
  const { traceWith } = await import('./otel-tracing.ts')
  return traceWith(options)
}
