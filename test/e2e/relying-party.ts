import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts the server of a client on another site, to which Kapis redirects browsers. Its pages may
 * send browsers to Kapis.
 */
export async function startRelyingParty() {
  const pages = new Map<string, string>()
  const scripts = new Map<string, string>()
  const callbacks: URL[] = []
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '', origin)
    if (url.pathname === '/callback') callbacks.push(url)
    const script = scripts.get(url.pathname)
    if (script !== undefined) {
      res.setHeader('content-type', 'text/javascript')
      return void createReadStream(script).pipe(res)
    }
    res.setHeader('content-type', 'text/html')
    res.end(pages.get(url.pathname) ?? '<!doctype html><title>client</title><h1>Back at the client</h1>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/callback`,
    /** Pages of this site by path. */
    pages,
    /** Files of its pages by path. */
    scripts,
    /** Waits for the redirect, and returns its URL. */
    async callback(): Promise<URL> {
      const deadline = Date.now() + 20_000
      while (callbacks.length === 0) {
        if (Date.now() > deadline) throw new Error('the browser was not redirected back')
        await new Promise(resolve => setTimeout(resolve, 50))
      }
      return callbacks.shift() as URL
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type RelyingParty = Awaited<ReturnType<typeof startRelyingParty>>
