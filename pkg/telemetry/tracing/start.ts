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
 * Starts tracing if it is configured. The libraries are only loaded with an endpoint: they take 0.1
 * s and 10 MB.
 *
 * @throws Error if the CA file cannot be read
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  if (options.config.endpoint === '') return off
  const { traceWith } = await import('./otel-tracing.ts')
  return traceWith(options)
}
