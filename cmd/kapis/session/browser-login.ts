import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { InterruptedError, type Io } from '../command.ts'
import type { Client, Issuer } from './issuer.ts'
import { printable } from './printable.ts'
import { type Tokens, toTokens } from './token-response.ts'

const waitMs = 300_000
const secret = () => randomBytes(32).toString('base64url')

/**
 * Logs in by an authorization code with PKCE (RFC 7636) and a redirect to a port of the loopback
 * interface (RFC 8252 section 7.3).
 *
 * @param opens whether to start a browser; the URL is always printed
 */
export async function browserLogin(issuer: Issuer, client: Client, io: Io, opens: boolean): Promise<Tokens> {
  const state = secret()
  const verifier = secret()
  const url = issuer.endpoint('authorization')
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const redirectUri = `http://127.0.0.1:${portOf(server)}/callback`
  try {
    const arrived = waitForCode(server, { state, issuer }, io.signal)
    url.search = String(
      new URLSearchParams({
        response_type: 'code',
        client_id: client.id,
        redirect_uri: redirectUri,
        scope: 'openid',
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }),
    )
    io.err(`Log in with a browser at\n\n  ${url}\n\n`)
    if (opens) openBrowser(url, io)
    const form = {
      grant_type: 'authorization_code',
      code: await arrived,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    return toTokens(client, await issuer.post('token', client, form), 'log in')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

type Expected = { readonly state: string; readonly issuer: Issuer }

function waitForCode(server: HttpServer, expected: Expected, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1')
    // Any program on the machine can send requests to this port, but only the redirect of the
    // issuer contains the state.
    if (req.method !== 'GET' || pathname !== '/callback' || searchParams.get('state') !== expected.state)
      return returnPage(res, 404, 'Not found', '')
    const rejection = problemOf(searchParams, expected.issuer)
    const code = searchParams.get('code')
    if (rejection === undefined && code !== null) {
      returnPage(res, 200, 'You are logged in', 'You can close this window and return to the terminal.')
      return resolve(code)
    }
    returnPage(res, 400, 'Login failed', 'The terminal shows the reason. You can close this window.')
    reject(new Error(`the login failed: ${rejection ?? 'the response has no code'}`))
  })
  const timer = setTimeout(
    () => reject(new Error('timed out after five minutes waiting for the browser login')),
    waitMs,
  )
  const stopped = () => reject(new InterruptedError())
  signal.addEventListener('abort', stopped, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stopped)
  })
}

/**
 * Returns why an authorization response is rejected: it is an error (RFC 6749 section 4.1.2.1), or
 * from another issuer (RFC 9207 section 2.4).
 */
function problemOf(params: URLSearchParams, issuer: Issuer): string | undefined {
  const iss = params.get('iss')
  const isOther = iss === null ? issuer.isNamedInResponses : iss !== issuer.identifier
  if (isOther) return 'the response comes from another issuer'
  const why = params.get('error_description') ?? params.get('error')
  return why === null ? undefined : printable(why.slice(0, 200))
}

function portOf(server: HttpServer): number {
  const address = server.address()
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('failed to listen on the loopback interface')
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 20vh auto 0; max-width: 26rem; padding: 0 1.5rem }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
p { margin: 0 }
`
const hash = createHash('sha256').update(style).digest('base64')

/** Sends the page that a browser login ends with. Its texts are constant. */
function returnPage(res: ServerResponse, status: number, title: string, text: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`
  const body = `<main><h1>${title}</h1><p>${text}</p></main>`
  res.writeHead(status, headers)
  res.end(
    `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body>${body}</body></html>\n`,
  )
}

/**
 * Opens a URL with the first command of BROWSER, or with the opener of the desktop. The URL
 * replaces `%s`, or is the last argument. No shell is involved. A missing program is ignored, since
 * the URL is also printed.
 */
function openBrowser(url: URL, { env }: Io): void {
  const usual = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const [command = usual, ...args] = (env.BROWSER ?? '').split(':', 1).join('').split(' ').filter(Boolean)
  const placed = args.map(arg => arg.replaceAll('%s', () => url.href))
  const isPlaced = args.some(arg => arg.includes('%s'))
  const child = spawn(command, isPlaced ? placed : [...args, url.href], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
