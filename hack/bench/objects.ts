import { Agent, type RequestOptions, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

export type Api = {
  /** @returns the body. @throws Error when the answer is no success */
  readonly call: (method: string, path: string, body?: object, contentType?: string) => Promise<string>
  readonly close: () => void
}

// A server that has more to do than it can says so, or closes a connection: a benchmark of half an hour must outlive that.
const tries = 6
const busy = new Set([408, 429, 500, 502, 503, 504])

type Sent = { readonly code: number; readonly text: string }

/** A client of kube-apiserver for setting a benchmark up; many calls may run at once. */
export function createApi(baseUrl: string, token: string): Api {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, rejectUnauthorized: false })
  return {
    async call(method, path, body, contentType = 'application/json') {
      for (let attempt = 1; ; attempt++) {
        const sent = await send(method, path, body, contentType).catch(toFailure)
        if (sent.code >= 200 && sent.code < 300) return sent.text
        // What was made although nobody was told of it.
        if (attempt > 1 && method === 'POST' && sent.code === 409) return sent.text
        if (attempt === tries || (sent.code !== 0 && !busy.has(sent.code)))
          throw new Error(`${method} ${path}: ${sent.code} ${sent.text.slice(0, 300)}`)
        await sleep(attempt * 500)
      }
    },
    close: () => agent.destroy(),
  }

  function send(method: string, path: string, body: object | undefined, contentType: string): Promise<Sent> {
    const { promise, resolve, reject } = Promise.withResolvers<Sent>()
    const options: RequestOptions = {
      method,
      agent,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'content-type': contentType,
      },
    }
    const req = request(new URL(path, baseUrl), options, async res => {
      try {
        resolve({ code: res.statusCode ?? 0, text: Buffer.concat(await res.toArray()).toString() })
      } catch (error) {
        reject(error)
      }
    })
    req.on('error', reject)
    req.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
}

function toFailure(error: unknown): Sent {
  return { code: 0, text: error instanceof Error ? error.message : String(error) }
}

/** Does `work` for each number from `from` up to but not including `to`, some at a time, and tells how far it is. */
export async function forEach(
  from: number,
  to: number,
  what: string,
  work: (i: number) => Promise<unknown>,
  atOnce = 32,
): Promise<void> {
  const tell = createTeller(what, to)
  let next = from
  const worker = async () => {
    while (next < to) {
      await work(next++)
      tell(next)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const stillMs = 60_000

/** Counts until there are as many as wanted, or no more have come for a minute. @returns how many there are */
export async function until(
  what: string,
  wanted: number,
  count: () => Promise<number> | number,
  everyMs = 250,
): Promise<number> {
  const tell = createTeller(what, wanted)
  let [found, since] = [await count(), Date.now()]
  while (found < wanted && Date.now() - since < stillMs) {
    tell(found)
    await sleep(everyMs)
    const now = await count()
    if (now > found) since = Date.now()
    found = now
  }
  return found
}

/** Tells every five seconds how far something is. */
function createTeller(what: string, of: number): (done: number) => void {
  let toldAt = Date.now()
  return done => {
    if (Date.now() - toldAt < 5_000) return
    toldAt = Date.now()
    console.log(`   ${what}: ${done} of ${of}`)
  }
}
