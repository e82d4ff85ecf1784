import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @returns the body
 * @throws Error if the response is not a success
 */
export type Call = (method: string, path: string, body?: object, contentType?: string) => Promise<string>

// An overloaded server rejects requests or closes connections; a benchmark of half an hour must
// survive that.
const tries = 6
const busy = new Set([0, 408, 429, 500, 502, 503, 504])

/** A client for a JSON API; calls may run concurrently. */
export function createApi(baseUrl: string, token: string): Call {
  return async (method, path, body, contentType = 'application/json') => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'content-type': contentType,
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    for (let attempt = 1; ; attempt++) {
      const { code, text } = await fetch(new URL(path, baseUrl), init).then(
        async res => ({ code: res.status, text: await res.text() }),
        error => ({ code: 0, text: String(error) }),
      )
      // 409: an earlier attempt made it.
      if ((code >= 200 && code < 300) || (attempt > 1 && method === 'POST' && code === 409)) return text
      if (attempt === tries || !busy.has(code))
        throw new Error(`${method} ${path}: ${code} ${text.slice(0, 300)}`)
      await sleep(attempt * 500)
    }
  }
}

/** Does `work` for each number from `from` up to but not including `to`, some in parallel. */
export async function forEach(
  from: number,
  to: number,
  work: (i: number) => Promise<unknown>,
  parallel = 32,
): Promise<void> {
  let next = from
  const worker = async () => {
    while (next < to) await work(next++)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

const stillMs = 60_000

/**
 * Counts until there are as many as wanted, or no more have come for a minute. @returns how many
 * there are
 */
export async function until(
  wanted: number,
  count: () => Promise<number> | number,
  everyMs = 250,
): Promise<number> {
  let [found, since] = [await count(), Date.now()]
  while (found < wanted && Date.now() - since < stillMs) {
    await sleep(everyMs)
    const now = await count()
    if (now > found) since = Date.now()
    found = now
  }
  return found
}
