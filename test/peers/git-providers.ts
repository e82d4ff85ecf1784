import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startTlsServer } from './tls-server.ts'

export const gitClient = { clientID: 'app-id', clientSecret: 'app secret' }

export type GitHubAccount = {
  readonly user: object
  readonly emails?: readonly object[]
  readonly orgs?: readonly object[]
  readonly teams?: readonly object[]
}

/**
 * Starts a server with the web application flow of GitHub and the REST API that a login uses, since
 * GitHub itself cannot be run here.
 */
export function startGitHub(account: () => GitHubAccount) {
  return startForge(
    { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token' },
    {
      // GitHub always responds with 200, even to an error.
      respondWithToken: (res, isGood, token) =>
        json(
          res,
          200,
          isGood
            ? { access_token: token, scope: 'read:org,user:email', token_type: 'bearer' }
            : {
                error: 'bad_verification_code',
                error_description: 'The code passed is incorrect or expired.',
                error_uri:
                  'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/#bad-verification-code',
              },
        ),
      refuse: res =>
        json(res, 401, {
          message: 'Bad credentials',
          documentation_url: 'https://docs.github.com/rest',
          status: '401',
        }),
      respond(path, res) {
        const { user, emails = [], orgs = [], teams = [] } = account()
        const responses: Readonly<Record<string, unknown>> = {
          '/user': user,
          '/user/emails': emails,
          '/user/orgs': orgs,
          '/user/teams': teams,
        }
        json(res, path in responses ? 200 : 404, responses[path] ?? { message: 'Not Found' })
      },
    },
  )
}

export type GitLabAccount = { readonly user: object; readonly groups?: readonly object[] }

/** Starts GitLab as an OAuth 2.0 provider with its API, which returns two groups per page. */
export function startGitLab(account: () => GitLabAccount) {
  return startForge(
    { authorize: '/oauth/authorize', token: '/oauth/token' },
    {
      respondWithToken: (res, isGood, token) =>
        isGood
          ? json(res, 200, {
              access_token: token,
              token_type: 'Bearer',
              expires_in: 7200,
              refresh_token: randomUUID(),
              scope: 'read_user read_api',
              created_at: Math.floor(Date.now() / 1000),
            })
          : json(res, 400, {
              error: 'invalid_grant',
              error_description:
                'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
            }),
      refuse: res => json(res, 401, { message: '401 Unauthorized' }),
      respond(path, res, url) {
        const { user, groups = [] } = account()
        if (path === '/api/v4/user') return json(res, 200, user)
        if (path !== '/api/v4/groups') return json(res, 404, { error: '404 Not Found' })
        const page = Number(url.searchParams.get('page') ?? '1')
        const next = new URL(url)
        next.searchParams.set('page', String(page + 1))
        const link = groups.length > page * 2 ? { link: `<${next}>; rel="next", <${url}>; rel="first"` } : {}
        json(res, 200, groups.slice((page - 1) * 2, page * 2), link)
      },
    },
  )
}

type Behaviour = {
  readonly respondWithToken: (res: ServerResponse, isGood: boolean, token: string) => void
  readonly refuse: (res: ServerResponse) => void
  readonly respond: (path: string, res: ServerResponse, url: URL) => void
}

function startForge(paths: { authorize: string; token: string }, behaviour: Behaviour) {
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>()
  const tokens = new Set<string>()

  function authorize(url: URL, res: ServerResponse): void {
    const redirectUri = url.searchParams.get('redirect_uri') ?? ''
    const code = randomUUID()
    codes.set(code, { challenge: url.searchParams.get('code_challenge') ?? '', redirectUri })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', url.searchParams.get('state') ?? '')
    res.writeHead(302, { location: back.href }).end()
  }

  async function exchange(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(Buffer.concat(await req.toArray()).toString('utf8'))
    const known = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood =
      known?.challenge === challenge &&
      known.redirectUri === form.get('redirect_uri') &&
      form.get('client_id') === gitClient.clientID &&
      form.get('client_secret') === gitClient.clientSecret
    const token = randomUUID()
    if (isGood) tokens.add(token)
    behaviour.respondWithToken(res, isGood, token)
  }

  return startTlsServer(base => (req, res) => {
    const url = new URL(req.url ?? '/', base)
    if (url.pathname === paths.authorize) return authorize(url, res)
    if (url.pathname === paths.token) return void exchange(req, res)
    if (!tokens.has((req.headers.authorization ?? '').replace(/^Bearer /, ''))) return behaviour.refuse(res)
    behaviour.respond(url.pathname, res, url)
  })
}

function json(
  res: ServerResponse,
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  res
    .writeHead(code, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body))
}
