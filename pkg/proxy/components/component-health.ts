import { upstreamFailure } from '../upstream-failure.ts'
import type { ComponentUpstream } from './component-upstream.ts'

/** A condition of type Available, without its timestamps. */
export type Availability = {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const withinMs = 5_000

/** Checks a component by the root of its API, which must be below 500. */
export async function checkComponent({
  component,
  short,
  breaker,
}: ComponentUpstream): Promise<Availability> {
  const { group, version, url } = component
  const path = `${url.pathname.replace(/\/$/, '')}/kapis/${group}/${version}`
  try {
    const { statusCode: code, body } = await short.request({
      method: 'GET',
      path,
      headers: { accept: 'application/json', 'user-agent': 'kapis' },
      signal: AbortSignal.timeout(withinMs),
    })
    await body.dump()
    if (code >= 500)
      return { status: 'False', reason: 'FailedCheck', message: `GET ${path} responded with ${code}` }
    // Closes the circuit breaker without waiting for the next request.
    breaker.succeeded()
    return { status: 'True', reason: 'Passed', message: 'the component responds' }
  } catch (error) {
    const { message, headers } = upstreamFailure(`the component ${component.name}`, error)
    const why = headers['proxy-status']?.split('error=')[1] ?? ''
    return { status: 'False', reason: 'FailedCheck', message: `${message} (${why})` }
  }
}
