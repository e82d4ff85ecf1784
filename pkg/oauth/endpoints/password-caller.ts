import type { Request, Response } from 'express'
import { isStatus, Status } from '../../apierrors/status.ts'
import { basicChallenge, isBasic, readBasic } from '../../authn/basic-credential.ts'
import type { User } from '../../iam/users/user.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { requireValidPassword } from '../require-valid-password.ts'
import { assertNoSecondFactor } from '../second-factor.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { RejectionCause } from '../server/error.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'

/** The user who authenticated by password. There is no token, and so there are no claims. */
export type PasswordCaller = { readonly user: User; readonly claims?: undefined }

/**
 * Authenticates a caller by the password of a user (RFC 7617), with the checks and locks of the
 * password grant. It starts no login. Only requests with Basic get a Basic challenge: otherwise
 * browsers would show their own login dialog, and send the password with every later request.
 *
 * @returns undefined for a request without Basic
 * @throws Status 401 with the same message for a wrong password and an unknown user; 429 with
 * Retry-After; 503
 */
export async function readPasswordCaller(
  tools: Pick<GrantTools, 'passwords' | 'factors'>,
  { req, res }: { req: Request; res: Response },
): Promise<PasswordCaller | undefined> {
  const { authorization = '' } = req.headers
  if (!isBasic(authorization)) return undefined
  const credential = readBasic(authorization)
  if (credential === undefined)
    throw rejection('invalid Basic credential', new RejectionCause('broken_credential'))
  const attempt = { login: credential.id, password: credential.secret }
  const verdict = await tools.passwords.check({
    ...attempt,
    source: clientInfoOf(req),
    signal: disconnectSignal(res),
  })
  try {
    const user = requireValidPassword(verdict)
    assertUserEnabled(user)
    await assertNoSecondFactor(tools.factors, user)
    return { user }
  } catch (error) {
    if (isStatus(error, 400)) throw rejection(error.message, error.cause)
    throw error
  }
}

function rejection(description: string, cause: unknown): Status {
  return new Status(401, 'login_required', description, {
    headers: { 'www-authenticate': basicChallenge },
    cause,
  })
}
