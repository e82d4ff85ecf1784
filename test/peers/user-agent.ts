import { request } from 'node:https'

export type Page = {
  readonly url: URL
  readonly code: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/**
 * Creates a minimal browser for logins, which stores cookies by host and port and follows
 * redirects.
 */
export function createUserAgent(ca: readonly string[], accept = 'application/json') {
  const jars = new Map<string, Map<string, string>>()

  function send(url: URL, form?: Readonly<Record<string, string>>): Promise<Page> {
    const { promise, resolve, reject } = Promise.withResolvers<Page>()
    const jar = jars.get(url.host) ?? new Map<string, string>()
    jars.set(url.host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      accept,
      ...(cookie === '' ? {} : { cookie }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const method = form === undefined ? 'GET' : 'POST'
    const req = request(url, { method, headers, ca: [...ca], agent: false, timeout: 20_000 }, async res => {
      try {
        for (const line of res.headers['set-cookie'] ?? []) keep(jar, line)
        const body = Buffer.concat(await res.toArray()).toString('utf8')
        resolve({ url, code: res.statusCode ?? 0, headers: res.headers, body })
      } catch (error) {
        reject(error)
      }
    })
    req.on('timeout', () => req.destroy(new Error(`no response from ${url.href}`)))
    req.on('error', reject)
    req.end(form === undefined ? undefined : String(new URLSearchParams(form)))
    return promise
  }

  async function follow(first: Page, until: (url: URL) => boolean): Promise<Page> {
    let page = first
    for (let i = 0; i < 20; i++) {
      const { location } = page.headers
      if (page.code < 300 || page.code >= 400 || location === undefined) return page
      const next = new URL(location, page.url)
      if (until(next)) return page
      page = await send(next)
    }
    throw new Error(`too many redirects: ${page.url.href}`)
  }

  return {
    /** Opens a URL and follows redirects, to the end or until `until` returns true for a target. */
    open: async (url: string | URL, until: (url: URL) => boolean = () => false) =>
      follow(await send(new URL(url)), until),
    /** Submits a form of a page with the given fields, to the action of the form. */
    async submit(
      page: Page,
      fields: Readonly<Record<string, string>>,
      until: (url: URL) => boolean = () => false,
    ) {
      const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page.body) ?? []
      return follow(await send(new URL(action.replaceAll('&amp;', '&'), page.url), fields), until)
    },
    cookies: (host: string) => jars.get(host) ?? new Map<string, string>(),
  }
}

export type UserAgent = ReturnType<typeof createUserAgent>

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';')
  const equals = pair.indexOf('=')
  const name = pair.slice(0, equals).trim()
  const expires = attributes.map(each => /^\s*expires=(.*)$/i.exec(each)?.[1]).find(Boolean)
  const isOver = attributes.some(each => /^\s*max-age=0$/i.test(each))
  if (isOver || (expires !== undefined && Date.parse(expires) < Date.now())) jar.delete(name)
  else jar.set(name, pair.slice(equals + 1).trim())
}
