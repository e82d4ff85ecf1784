import type { Request, RequestHandler } from 'express'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { Session } from '../../iam/sessions/session.ts'
import { loginRequired } from '../login-required.ts'
import type { TokenEvent } from '../server/audit.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import { withAudit } from '../server/with-audit.ts'
import { requireCallerLogin, requireCompleteLogin } from '../tokens/caller-login.ts'
import { issueAccessToken } from '../tokens/issue-access-token.ts'
import { readCaller, type ValidToken } from '../tokens/token-validation.ts'
import type { EndpointOptions } from './dependencies.ts'
import { readTokenRequest } from './personal-access-token-request.ts'

const endpoint = 'personal-access-tokens'
const maxTokens = 100
const notALogin = 'personal access tokens can only be created and deleted with the token of a login'

export type PersonalAccessTokens = {
  readonly create: RequestHandler
  readonly list: RequestHandler
  readonly remove: RequestHandler
}

/**
 * Creates the endpoints for personal access tokens: named, long-lived tokens for scripts, read-only
 * or with all permissions of their owner. Each is a session: it is checked for each request, and
 * ends with its user, with a password change, or when the identity provider revokes the login.
 *
 * Only a login without a pending step (a password change, a second factor) can create one: a leaked
 * token must not be able to create a successor.
 */
export function createPersonalAccessTokens({ tools, audit }: EndpointOptions): PersonalAccessTokens {
  async function requireLogin(req: Request, event: TokenEvent): Promise<ValidToken & { login: Session }> {
    const caller = await readCaller(tools, req)
    if (caller === undefined) throw loginRequired()
    Object.assign(event, { user: caller.user.name, client: caller.claims.clientId })
    return { ...caller, login: await requireCallerLogin(tools, caller, notALogin) }
  }

  async function listOwn(user: string): Promise<readonly Session[]> {
    const own = (await tools.sessions.list(user)).filter(isGood)
    return own.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.sid < b.sid ? -1 : 1))
  }

  return {
    create: withAudit(audit, endpoint, async (req, res, event) => {
      const caller = await requireLogin(req, event)
      requireCompleteLogin(tools, caller)
      const { user, claims, login } = caller
      const { name, scope, lifeSeconds } = readTokenRequest(req)
      if ((await listOwn(user.name)).length >= maxTokens)
        throw invalidRequest(`the limit of ${maxTokens} personal access tokens is reached`)
      const { issued, session } = await issueAccessToken(tools, {
        user,
        type: 'PersonalAccessToken',
        clientId: claims.clientId,
        scope,
        lifeSeconds,
        displayName: name,
        isLive: true,
        login,
      })
      event.sid = session.sid
      res.set({ 'cache-control': 'no-store', pragma: 'no-cache' })
      res.status(201).json({ ...describe(session), token: issued.token })
    }),

    list: withAudit(audit, endpoint, async (req, res, event) => {
      const { user } = await requireLogin(req, event)
      res.set('cache-control', 'no-store').json({ items: (await listOwn(user.name)).map(describe) })
    }),

    remove: withAudit(audit, endpoint, async (req, res, event) => {
      const caller = await requireLogin(req, event)
      requireCompleteLogin(tools, caller)
      const { user } = caller
      const session = await tools.sessions.read(String(req.params.id))
      if (session === undefined || session.user !== user.name || !isGood(session))
        throw oauthError(404, 'invalid_request', 'unknown personal access token')
      event.sid = session.sid
      await endLogin(tools.sessions, session, 'deleted by its owner')
      res.status(204).end()
    }),
  }
}

function isGood({ type, ended, expiresAtMs }: Session): boolean {
  return type === 'PersonalAccessToken' && ended === '' && expiresAtMs > Date.now()
}

function describe({ sid, displayName, scope, createdAtMs, expiresAtMs }: Session): object {
  return {
    id: sid,
    name: displayName,
    scope,
    createdAt: toTime(createdAtMs),
    expiresAt: toTime(expiresAtMs),
  }
}

/** Formats a time like kube-apiserver, without a fraction of a second. */
function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
