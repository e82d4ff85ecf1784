import type { Tracing, TracingOptions } from './tracing.ts'

const off: Tracing = {
  listener: listener => listener,
  authenticate: find => find,
  client: client => client,
  upstream: (_peer, forward) => forward,
  stop: async () => undefined,
}

/**
 * Starts tracing if an endpoint is configured. Only then are the OpenTelemetry libraries loaded,
 * which take 0.1 s and 10 MB.
 *
 * @throws Error if the CA file cannot be read
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  if (options.config.endpoint === '') return off
  const { traceWith } = await import('./otel-tracing.ts')
  return traceWith(options)
}
