import type { ComponentUpstream } from './component-upstream.ts'
import { upstreamFailure } from './failure.ts'
import { upstreamError } from './upstream-error.ts'
import type { Upstream } from './upstream-pool.ts'

/** A condition of type Available, without its time. */
export type Availability = {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const withinMs = 5_000

/** Asks a component for the root of its API: any answer that is no failure of its own says that it is there. */
export async function checkComponent({
  component,
  short,
  breaker,
}: ComponentUpstream): Promise<Availability> {
  const { group, version, url } = component
  const path = `${url.pathname.replace(/\/$/, '')}/kapis/${group}/${version}`
  try {
    const code = await askCode(short, path)
    if (code >= 500) return { status: 'False', reason: 'FailedCheck', message: `GET ${path} answers ${code}` }
    // Whoever waits for the breaker need not wait longer.
    breaker.succeeded()
    return { status: 'True', reason: 'Passed', message: 'the component answers' }
  } catch (error) {
    const { message, headers } = upstreamFailure(`the component ${component.name}`, error)
    const why = headers['proxy-status']?.split('error=')[1] ?? ''
    return { status: 'False', reason: 'FailedCheck', message: `${message} (${why})` }
  }
}

/** Status of an answer; its body is of no interest. */
function askCode(upstream: Upstream, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const headers = ['Accept', 'application/json', 'User-Agent', 'kapis']
  let found = 0
  const asked = upstream.ask(
    { method: 'GET', path, headers, body: null },
    {
      begin: ({ code }) => {
        found = code
      },
      data: () => undefined,
      end: () => resolve(found),
      failed: reject,
    },
  )
  const timer = setTimeout(() => {
    asked.abort()
    reject(upstreamError('UPSTREAM_HEAD_TIMEOUT', 'no answer in time'))
  }, withinMs)
  return promise.finally(() => clearTimeout(timer))
}
