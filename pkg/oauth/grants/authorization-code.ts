import { isStatus } from '../../apierrors/status.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { User } from '../../iam/users/user.ts'
import { hashRedirectUri, type ReadCode, readCode } from '../authorize/code.ts'
import { isVerified } from '../authorize/pkce.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { beginLogin } from '../login.ts'
import { invalidGrant } from '../server/error.ts'
import { requireParameter } from '../server/form.ts'
import type { Grant, GrantOutcome, GrantRequest, GrantTools } from '../tokens/grant.ts'

/** The authorization code grant (RFC 6749 section 4.1.3) with PKCE (RFC 7636). */
export const authorizationCodeGrant: Grant = {
  grantType: 'authorization_code',
  alias: 'code',
  async handle(tools, request) {
    const { client, form } = request
    const code = await readCode(tools.internalJwts, requireParameter(form, 'code'))
    if (code === undefined) throw invalidGrant('the code is invalid or expired', { why: 'invalid_code' })
    if (code.clientId !== client.name)
      throw invalidGrant('the code was issued to another client', { why: 'wrong_client', user: code.user })
    if (hashRedirectUri(form.get('redirect_uri') ?? '') !== code.redirectHash)
      throw invalidGrant('the parameter redirect_uri does not match the authorization request', {
        why: 'wrong_redirect_uri',
        user: code.user,
      })
    if (!isVerified(code.challenge, form.get('code_verifier')))
      throw invalidGrant('the parameter code_verifier does not match the code_challenge', {
        why: 'wrong_code_verifier',
        user: code.user,
      })
    return exchange(tools, request, code)
  },
}

async function exchange(tools: GrantTools, request: GrantRequest, code: ReadCode): Promise<GrantOutcome> {
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
    throw invalidGrant('the code was used before; the login has ended', {
      why: 'code_reused',
      user: code.user,
    })
  }
}

function requireUser({ users, sessions }: GrantTools, code: ReadCode): User {
  const user = users.get(code.user)
  if (user === undefined || user.uid !== code.userUid)
    throw invalidGrant('authenticated user does not exist', { why: 'unknown_user' })
  assertUserEnabled(user)
  if (sessions.isRevoked(code.browserSid, code.authTime))
    throw invalidGrant('the login has ended', { why: 'login_ended', user: code.user })
  return user
}
