import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { groupDomain } from '../e2e/http.ts'
import { setting } from '../e2e/run.ts'
import { faultMessage } from './fault-proxy.ts'

type HttpResponse = { readonly code: number; readonly body: string; readonly proxyStatus: string }

export type TrafficOptions = {
  readonly url: string
  readonly token: string
  readonly nodes: number
  /** The namespace of the ConfigMaps and log lines of the traffic. */
  readonly namespace: string
  /**
   * Whether kapis-apiserver has a log store; the traffic then includes ingesting and querying
   * lines.
   */
  readonly hasLogs?: boolean
}

/**
 * The result of a period of traffic. A response is wrong if it is neither correct nor a proper
 * error.
 */
export type Report = {
  readonly asked: number
  readonly right: number
  /** Number of proper errors by status: 429, 503, 504, and 502 of Kapis itself. */
  readonly refused: Readonly<Record<string, number>>
  readonly wrong: readonly string[]
  /** Names of objects created with 201, and log lines acknowledged with 200. */
  readonly acknowledged: { readonly objects: readonly string[]; readonly lines: readonly string[] }
}

export type Traffic = {
  /** Returns the seconds from `since` until all requests have succeeded for at least a second. */
  readonly recovered: (since: number, withinSeconds: number) => Promise<number>
  readonly stop: () => Promise<Report>
}

type LoadUser = {
  readonly name: string
  readonly path: () => string
  readonly body?: () => string
  readonly form?: string
  /** Returns whether a response with the expected status also has the expected content. */
  readonly isRight: (response: HttpResponse) => boolean
  readonly pauseMs: number
  /** Returns the content of the next write. */
  readonly acknowledges?: () => string
  readonly writes?: 'objects' | 'lines'
  /**
   * Whether each request uses a new connection, since certificates are verified when connecting.
   */
  readonly isFresh?: boolean
}

/**
 * Starts concurrent clients of all kinds: platform lists, the extension API, the proxy, writes,
 * keys and logins. Each repeats its requests with a pause in between.
 */
export function startTraffic(options: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(setting('KAPIS_CA')) })
  const askers = createAskers(options)
  const refused: Record<string, number> = {}
  const wrong: string[] = []
  const acknowledged = { objects: [] as string[], lines: [] as string[] }
  const lastBadAt = new Map<string, number>()
  const lastRight = new Map<string, { readonly beganAt: number; readonly endedAt: number }>()
  const firstRightAt = new Map<string, number>()
  let mark = Number.POSITIVE_INFINITY
  let requestCount = 0
  let right = 0
  let isOver = false

  async function one(asker: LoadUser): Promise<void> {
    const beganAt = performance.now()
    const name = asker.acknowledges?.()
    const response = await send(options, agent, asker).catch(error => String(error))
    const endedAt = performance.now()
    requestCount += 1
    if (
      typeof response !== 'string' &&
      response.code >= 200 &&
      response.code < 300 &&
      asker.isRight(response)
    ) {
      right += 1
      lastRight.set(asker.name, { beganAt, endedAt })
      if (beganAt >= mark && !firstRightAt.has(asker.name)) firstRightAt.set(asker.name, endedAt)
      if (name !== undefined) acknowledged[asker.writes ?? 'objects'].push(name)
      return
    }
    lastBadAt.set(asker.name, endedAt)
    note(asker, response)
  }

  function note(asker: LoadUser, response: HttpResponse | string): void {
    const kind = typeof response === 'string' ? undefined : honestRefusal(response)
    if (kind !== undefined) refused[kind] = (refused[kind] ?? 0) + 1
    else
      wrong.push(
        `${asker.name}: ${typeof response === 'string' ? response : `${response.code} ${response.body.slice(0, 200)}`}`,
      )
  }

  const running = askers.map(async asker => {
    while (!isOver) {
      await one(asker)
      await sleep(asker.pauseMs)
    }
  })

  return {
    async recovered(since, withinSeconds) {
      mark = since
      firstRightAt.clear()
      for (;;) {
        const times = askers.map(({ name, pauseMs }) => {
          const bad = lastBadAt.get(name) ?? 0
          const good = lastRight.get(name)
          if (good === undefined || good.beganAt < since || good.beganAt < bad) return undefined
          return good.endedAt - bad > 1_000 + pauseMs || bad < since
            ? Math.max(bad, firstRightAt.get(name) ?? good.endedAt)
            : undefined
        })
        if (times.every(time => time !== undefined)) return (Math.max(...times) - since) / 1000
        if (performance.now() - since > withinSeconds * 1000) {
          const late = askers.filter((_, i) => times[i] === undefined).map(({ name }) => name)
          throw new Error(
            `not right again after ${withinSeconds} s: ${late.join(', ')}; ${JSON.stringify(refused)} ${wrong.at(-1)}`,
          )
        }
        await sleep(50)
      }
    },
    async stop() {
      isOver = true
      await Promise.all(running)
      agent.destroy()
      return { asked: requestCount, right, refused, wrong, acknowledged }
    },
  }
}

function createAskers({ nodes, namespace, hasLogs }: TrafficOptions): readonly LoadUser[] {
  let count = 0
  const run = Date.now().toString(36)
  const nameOf = (number: number) => `written-${run}-${number}`
  const objects = `/api/v1/namespaces/${namespace}/configmaps`
  const login = new URLSearchParams({
    ...{ grant_type: 'password', username: setting('KAPIS_USER'), password: setting('KAPIS_PASSWORD') },
    ...{ client_id: setting('KAPIS_CLIENT_ID'), client_secret: setting('KAPIS_CLIENT_SECRET') },
  })
  const reader = (
    name: string,
    path: string,
    isRight: (body: Record<string, unknown>) => boolean,
  ): LoadUser => ({
    ...{ name, path: () => path, pauseMs: 100 },
    isRight: ({ body }) => isRight(JSON.parse(body)),
  })
  const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : -1)
  return [
    reader(
      'platform list',
      `/kapis/resources.${groupDomain}/v1alpha3/nodes?limit=2`,
      body => body.totalItems === nodes,
    ),
    reader(
      'aggregated list',
      `/apis/resources.${groupDomain}/v1alpha3/nodes`,
      body => lengthOf(body.items) === nodes,
    ),
    reader('proxy', `/api/v1/namespaces/${namespace}`, body => body.kind === 'Namespace'),
    reader('keys', '/oauth/keys', body => lengthOf(body.keys) > 0),
    {
      ...{ name: 'login', path: () => '/oauth/token', form: String(login), pauseMs: 1_000 },
      isRight: ({ body }) => 'access_token' in JSON.parse(body),
    },
    {
      ...{ name: 'write', path: () => objects, pauseMs: 100 },
      body: () => JSON.stringify({ metadata: { name: nameOf(++count) } }),
      acknowledges: () => nameOf(count + 1),
      isRight: ({ body }) => JSON.parse(body).metadata.name === nameOf(count),
    },
    {
      ...{ name: 'new connection', path: () => '/livez', pauseMs: 500, isFresh: true },
      isRight: ({ code }) => code === 200,
    },
    ...(hasLogs ? createLogAskers(namespace, run) : []),
  ]
}

function createLogAskers(namespace: string, run: string): readonly LoadUser[] {
  let count = 0
  let most = 0
  const lineOf = (number: number) => `line ${run}-${number}`
  const names = { namespace_name: namespace, pod_name: 'web-0', container_name: 'web', docker_id: 'web' }
  return [
    {
      ...{
        name: 'log line',
        path: () => `/kapis/logging.${groupDomain}/v1alpha2/ingest/jsonlines`,
        pauseMs: 100,
      },
      body: () => JSON.stringify({ time: new Date().toISOString(), log: lineOf(++count), kubernetes: names }),
      ...{ writes: 'lines', acknowledges: () => lineOf(count + 1) },
      isRight: ({ code }) => code === 200,
    },
    {
      ...{
        name: 'log query',
        path: () => `/kapis/tenant.${groupDomain}/v1alpha2/logs?size=1&namespaces=${namespace}`,
        pauseMs: 200,
      },
      // No line is deleted during the run, so a response with fewer lines than an earlier one is
      // incomplete.
      isRight({ body }) {
        const { total } = JSON.parse(body).query
        const isRight = total >= most
        most = Math.max(most, total)
        return isRight
      },
    },
  ]
}

/**
 * Returns the status of a proper error by RFC 9110: a temporary one, or a timeout. A 502 is proper
 * if Kapis itself sent it (RFC 9209), or if it is the 503 of kapis-oauth.
 */
function honestRefusal({ code, body, proxyStatus }: HttpResponse): string | undefined {
  if (code === 429 || code === 503 || code === 504) return String(code)
  // RFC 4918 section 11.5: the storage is full.
  if (code === 507) return String(code)
  if (code === 502 && proxyStatus.startsWith('kapis;')) return '502'
  // Errors of kube-apiserver are passed on by the proxy.
  return code === 500 && body.includes(faultMessage) ? '500 of kube-apiserver' : undefined
}

function send({ url, token }: TrafficOptions, agent: Agent, asker: LoadUser): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const body = asker.form ?? asker.body?.()
  const headers = {
    ...(asker.form === undefined ? { authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    'content-type': asker.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
  }
  const method = body === undefined ? 'GET' : 'POST'
  const connection = asker.isFresh
    ? { agent: false as const, ca: readFileSync(setting('KAPIS_CA')) }
    : { agent }
  const target = new URL(asker.path(), url)
  const req = request(target, { ...connection, method, headers, timeout: 90_000 }, async res => {
    try {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({
        code: res.statusCode ?? 0,
        body: text,
        proxyStatus: String(res.headers['proxy-status'] ?? ''),
      })
    } catch (error) {
      reject(error)
    }
  })
  req.on('timeout', () => req.destroy(new Error('no response within 90 s')))
  req.on('error', reject)
  req.end(body)
  return promise
}
