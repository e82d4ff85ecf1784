import type { TestApp } from '../fixtures.ts'
import type { HttpResponse } from '../request-fixtures.ts'

/** Returns the hidden fields of a form. */
export function hiddenFieldsOf(page: string): Record<string, string> {
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescapeHtml(value)]))
}

function unescapeHtml(text: string): string {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '')
}

/** Creates a client that stores cookies like a browser, and does not follow redirects. */
export function createBrowser(app: Pick<TestApp, 'send'>) {
  const cookies = new Map<string, string>()
  async function send(method: string, path: string, body?: string, more: Record<string, string> = {}) {
    const headers: Record<string, string> = { accept: 'text/html', ...more }
    if (cookies.size > 0) headers.cookie = [...cookies].map(pair => pair.join('=')).join('; ')
    if (body !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded'
    const response = await app.send(method, path, body === undefined ? { headers } : { headers, body })
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (line.includes('Max-Age=0')) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  const browser = {
    cookies,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    head: (path: string) => send('HEAD', path),
    post: (path: string, form: Readonly<Record<string, string>>, headers?: Record<string, string>) =>
      send('POST', path, String(new URLSearchParams(form)), headers),
    /** Opens the login page and submits its form. */
    async logIn(username: string, password: string, returnTo = '/oauth/session'): Promise<HttpResponse> {
      const page = await browser.get(`/oauth/login?${new URLSearchParams({ return_to: returnTo })}`)
      return browser.post('/oauth/login', { ...hiddenFieldsOf(page.body), username, password })
    },
  }
  return browser
}

export type Browser = ReturnType<typeof createBrowser>

export function locationOf(response: HttpResponse): URL {
  return new URL(response.headers.location as string, 'https://kapis.test')
}
