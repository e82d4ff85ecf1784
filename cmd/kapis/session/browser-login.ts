import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Io } from '../command.ts'
import { type Client, type Issuer, toLogin } from './issuer.ts'
import type { StoredLogin } from './login-store.ts'

const waitMs = 300_000
const secret = () => randomBytes(32).toString('base64url')

/**
 * Authorization code with PKCE (RFC 7636), brought back to a port of the loopback interface (RFC 8252 section 7.3).
 *
 * @param opens whether a browser is started; its address is printed in any case
 */
export async function browserLogin(
  issuer: Issuer,
  client: Client,
  io: Io,
  opens: boolean,
): Promise<StoredLogin> {
  const state = secret()
  const verifier = secret()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const redirectUri = `http://127.0.0.1:${portOf(server)}/callback`
  try {
    const arrived = waitForCode(server, state, io.signal)
    const url = new URL(issuer.endpoint('authorization'))
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
    if (opens) open(String(url), io)
    const form = {
      grant_type: 'authorization_code',
      code: await arrived,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    return toLogin(issuer.server, client, await issuer.post('token', client, form), 'cannot log in')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function waitForCode(server: HttpServer, state: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1')
    // Anybody on the machine may call this port: only who knows the state has been sent by the issuer.
    if (req.method !== 'GET' || pathname !== '/callback' || searchParams.get('state') !== state)
      return answer(res, 404, 'There is nothing here.')
    const code = searchParams.get('code')
    if (code !== null) {
      answer(res, 200, 'You are logged in. This window can be closed.')
      return resolve(code)
    }
    answer(res, 400, 'The login was refused. The terminal says why.')
    const why = searchParams.get('error_description') ?? searchParams.get('error') ?? 'no code'
    reject(new Error(`the login was refused: ${why.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)}`))
  })
  const timer = setTimeout(() => reject(new Error('nobody has logged in within five minutes')), waitMs)
  const stopped = () => reject(new Error('interrupted'))
  signal.addEventListener('abort', stopped, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stopped)
  })
}

function answer(res: ServerResponse, code: number, text: string): void {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
    'referrer-policy': 'no-referrer',
  }
  res.writeHead(code, headers).end(`${text}\n`)
}

/** BROWSER, or what the desktop opens addresses with. That there is none is no mistake: the address is printed. */
function open(url: string, io: Io): void {
  const command = io.env.BROWSER || (process.platform === 'darwin' ? 'open' : 'xdg-open')
  const child = spawn(command, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

function portOf(server: HttpServer): number {
  const address = server.address()
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('cannot listen on the loopback interface')
}
