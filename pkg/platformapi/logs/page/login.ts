import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { methodNotAllowed, Status } from '../../../apierrors/status.ts'
import type { Exchange } from '../../../apirequest/request-context.ts'
import { clearCookie, fitsInCookie, readCookie, setCookie } from '../../../httpserver/cookie.ts'
import { textOf } from '../../../kubeclient/object/object.ts'
import { loginStateCookie, tokenCookie } from './cookies.ts'
import type { LogPageDocuments } from './page.ts'
import { type IssuerResponse, postForm } from './post-to-oauth.ts'

export type LogPageLoginOptions = {
  /** URL of the issuer, whose host is also the address of this server for browsers. */
  readonly issuer: string
  /** Unix socket of kapis-oauth. */
  readonly socket: string
  readonly clientId: string
  readonly redirectUri: string
  readonly clientAddress: (req: IncomingMessage) => string
  readonly documents: LogPageDocuments
}

export type LogPageLogin = {
  readonly begin: (exchange: Exchange) => void
  readonly callback: (exchange: Exchange) => Promise<void>
  readonly logout: (exchange: Exchange) => Promise<void>
}

const loginSeconds = 600
const longestReturn = 2_000

/**
 * Logs users in to the log page at the issuer of Kapis: authorization code with PKCE as a public
 * client (RFC 9700). The server redeems the code, and the token stays in a cookie that scripts
 * cannot read (ADR 8).
 */
export function createLogin(options: LogPageLoginOptions): LogPageLogin {
  const { issuer, socket, clientId, redirectUri, clientAddress, documents } = options
  const home = new URL(redirectUri)

  return {
    begin({ req, res, query }) {
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      const returnTo = (query.get('return_to') ?? '').slice(0, longestReturn)
      const page = query.get('page') === 'recordings' ? 'recordings' : ''
      // The login ends with a redirect to the host of the issuer, where the cookie must be set.
      if (req.headers.host !== home.host && !query.has('moved')) {
        const again = new URLSearchParams({ page, return_to: returnTo, moved: '1' })
        redirect(res, `${home.origin}/logs/login?${again}`)
        return
      }
      const [state, verifier] = [secret(), secret()]
      setCookie(res, loginStateCookie, `${state}.${verifier}.${base64(`${page}?${returnTo}`)}`, loginSeconds)
      const request = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      redirect(res, `${issuer}/authorize?${new URLSearchParams(request)}`)
    },

    async callback({ req, res, query }) {
      if (req.method !== 'GET') throw methodNotAllowed(['GET'])
      const [state = '', verifier = '', returnTo = ''] = (readCookie(req, loginStateCookie) ?? '').split('.')
      clearCookie(res, loginStateCookie)
      if (state === '' || !isEqual(query.get('state') ?? '', state)) {
        const why = 'This login was not started in this browser, or too long ago.'
        documents.sendProblem(res, 400, why)
        return
      }
      const code = query.get('code')
      if (code === null) {
        const why = query.get('error_description') || query.get('error') || 'no reason given'
        documents.sendProblem(res, 403, `Login failed: ${why.slice(0, 300)}`)
        return
      }
      const form = {
        ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri },
        ...{ code, code_verifier: verifier },
      }
      const response = await postForm(socket, '/oauth/token', { form, from: clientAddress(req) }).catch(
        toResponse,
      )
      const token = textOf(response.body.access_token)
      if (response.code !== 200 || !/^[\w.-]+$/.test(token)) {
        const why = textOf(response.body.error_description) || `the issuer responded with ${response.code}`
        documents.sendProblem(res, response.code >= 500 ? 503 : 400, `Login failed: ${why}`)
        return
      }
      const lifeSeconds = readLife(response.body.expires_in)
      if (!fitsInCookie(tokenCookie, token, lifeSeconds)) {
        documents.sendProblem(
          res,
          400,
          'You have too many groups for a login on this page: the cookie would be too large.',
        )
        return
      }
      setCookie(res, tokenCookie, token, lifeSeconds)
      redirect(res, toReturnPath(Buffer.from(returnTo, 'base64url').toString('utf8')))
    },

    async logout({ req, res }) {
      if (req.method !== 'POST') throw methodNotAllowed(['POST'])
      // Explains a missing cookie: browsers do not send it with cross-site requests.
      const { origin } = req.headers
      if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== req.headers.host)) {
        throw new Status(403, 'Forbidden', 'a logout must be requested by this page')
      }
      const token = readCookie(req, tokenCookie)
      clearCookie(res, tokenCookie)
      if (token !== undefined) {
        const form = { client_id: clientId, token }
        await postForm(socket, '/oauth/revoke', { form, from: clientAddress(req) }).catch(toResponse)
      }
      // Leads to the page on which the user can end the session at the issuer. With that session,
      // the next login would succeed without a password.
      redirect(res, `${issuer}/session`)
    },
  }
}

/**
 * Returns the path of a page to return to after a login: /logs or /logs/recordings, with the query
 * of `text`. Any text results in one of these paths, so that no redirect leads elsewhere.
 */
function toReturnPath(text: string): string {
  const [page, search] = text.split(/\?(.*)/s)
  return `/logs${page === 'recordings' ? '/recordings' : ''}?${new URLSearchParams(search)}`
}

function toResponse(error: unknown): IssuerResponse {
  const message = error instanceof Status ? error.message : 'it failed'
  return { code: 503, body: { error_description: message } }
}

/** Returns expires_in, which RFC 6749 section 5.1 does not require. */
function readLife(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) ? seconds : undefined
}

function redirect(res: ServerResponse, location: string): void {
  const headers: OutgoingHttpHeaders = {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': 0,
  }
  res.writeHead(303, headers)
  res.end()
}

function secret(): string {
  return randomBytes(32).toString('base64url')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
