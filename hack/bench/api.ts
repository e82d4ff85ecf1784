import { setTimeout as sleep } from 'node:timers/promises'

/** Sends a request and returns the response body. @throws Error if the status is not 2xx */
export type Call = (method: string, path: string, body?: object, contentType?: string) => Promise<string>

// An overloaded server rejects requests or closes connections, which must not end a benchmark of
// half an hour.
const tries = 6
const busy = new Set([0, 408, 429, 500, 502, 503, 504])

/** Creates a client of a JSON API, which may send requests concurrently. */
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
      // 409 after a retry: an earlier attempt has created the object.
      if ((code >= 200 && code < 300) || (attempt > 1 && method === 'POST' && code === 409)) return text
      if (attempt === tries || !busy.has(code))
        throw new Error(`${method} ${path}: ${code} ${text.slice(0, 300)}`)
      await sleep(attempt * 500)
    }
  }
}

/** Runs `work` for each number from `from` up to but not including `to`, some concurrently. */
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

/** Counts until `wanted`, or no growth for a minute. @returns the last number */
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
