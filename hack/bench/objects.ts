import { Agent, type RequestOptions, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

export type Api = {
  /** @returns the body. @throws Error when the answer is no success */
  readonly call: (method: string, path: string, body?: object, contentType?: string) => Promise<string>
  readonly close: () => void
}

/** A client of kube-apiserver for setting a benchmark up; many calls may run at once. */
export function createApi(baseUrl: string, token: string): Api {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, rejectUnauthorized: false })
  return {
    async call(method, path, body, contentType = 'application/json') {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
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
        const text = Buffer.concat(await res.toArray()).toString()
        if ((res.statusCode ?? 500) < 300) resolve(text)
        else reject(new Error(`${method} ${path}: ${res.statusCode} ${text.slice(0, 300)}`))
      })
      req.on('error', reject)
      req.end(body === undefined ? undefined : JSON.stringify(body))
      return promise
    },
    close: () => agent.destroy(),
  }
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
