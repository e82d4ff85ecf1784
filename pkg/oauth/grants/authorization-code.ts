import { isStatus } from '../../apierrors/status.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { User } from '../../iam/users/user.ts'
import { hashRedirectUri, type ReadCode, readCode } from '../authorize/code.ts'
import { isVerified } from '../authorize/pkce.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { beginLogin } from '../login.ts'
import { oauthError } from '../server/error.ts'
import { requireParameter } from '../server/form.ts'
import type { Grant, Granted, GrantRequest, GrantTools } from '../tokens/grant.ts'

/** The authorization code grant (RFC 6749 section 4.1.3) with PKCE (RFC 7636). */
export const authorizationCodeGrant: Grant = {
  grantType: 'authorization_code',
  alias: 'code',
  async handle(tools, request) {
    const { client, form } = request
    const code = await readCode(tools.internalJwts, requireParameter(form, 'code'))
    if (code === undefined) throw invalid('the code is invalid or expired', 'invalid_code')
    if (code.clientId !== client.name)
      throw invalid('the code was issued to another client', 'wrong_client', code)
    if (hashRedirectUri(form.get('redirect_uri') ?? '') !== code.redirectHash)
      throw invalid(
        'the parameter redirect_uri does not match the authorization request',
        'wrong_redirect_uri',
        code,
      )
    if (!isVerified(code.challenge, form.get('code_verifier')))
      throw invalid(
        'the parameter code_verifier does not match the code_challenge',
        'wrong_code_verifier',
        code,
      )
    return exchange(tools, request, code)
  },
}

async function exchange(tools: GrantTools, request: GrantRequest, code: ReadCode): Promise<Granted> {
  const user = requireUser(tools, code)
  try {
    return await beginLogin(tools, {
      user,
      client: request.client,
      provider: code.provider,
      amr: code.amr,
      source: request.source,
      sid: code.sid,
      scope: code.scope,
      browser: { nonce: code.nonce, authTime: code.authTime, sid: code.browserSid },
    })
  } catch (error) {
    if (!isStatus(error, 409)) throw error
    // RFC 6749 section 4.1.2: two parties have the code, and either may be the attacker.
    const session = await tools.sessions.read(code.sid)
    if (session !== undefined) await endLogin(tools.sessions, session, 'authorization code used twice')
    throw invalid('the code was used before; the login has ended', 'code_reused', code)
  }
}

function requireUser({ users, sessions }: GrantTools, code: ReadCode): User {
  const user = users.get(code.user)
  if (user === undefined || user.uid !== code.userUid)
    throw invalid('authenticated user does not exist', 'unknown_user')
  assertUserEnabled(user)
  if (sessions.isRevoked(code.browserSid, code.authTime))
    throw invalid('the login has ended', 'login_ended', code)
  return user
}

function invalid(description: string, why: string, code?: ReadCode) {
  return oauthError(400, 'invalid_grant', description, { why, ...(code ? { user: code.user } : {}) })
}
