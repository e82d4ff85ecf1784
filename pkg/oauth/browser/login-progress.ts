import { createHash, randomUUID } from 'node:crypto'
import type { User } from '../../iam/users/user.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import type { GrantTools } from '../tokens/grant.ts'

/** A user who has authenticated, but may have more to do before the browser is logged in. */
export type LoginProgress = {
  readonly user: User
  /** '' for a local password. */
  readonly provider: string
  readonly amr: AuthenticationMethods
  /** When the user logged in, in seconds since the epoch; now if it is left out. */
  readonly authTime?: number | undefined
  /** Of the provider: stored in the browser until the logout (see upstream-logout.ts). */
  readonly idToken?: string | undefined
  readonly returnTo: string
  /** The sid of the browser session: the steps of one login lead to one session. */
  readonly sid: string
  /** The secret of an authenticator app that is being set up. */
  readonly totpSecret?: string | undefined
}

const lifeSeconds = 600

export function newProgress(done: Omit<LoginProgress, 'sid'>): LoginProgress {
  return { ...done, sid: randomUUID() }
}

/**
 * The progress of a login while its user fills in the next page: signed, in a hidden field of the
 * form, for this browser and for ten minutes. It becomes invalid when the password changes.
 *
 * @param csrf the CSRF token of the browser
 */
export function issueProgressTicket(
  { internalJwts }: Pick<GrantTools, 'internalJwts'>,
  { user, provider, amr, authTime, idToken = '', sid, totpSecret = '' }: LoginProgress,
  csrf: string,
): Promise<string> {
  const { name: sub, uid, credential } = user
  const time = authTime === undefined ? {} : { auth_time: authTime }
  const claims = { sub, uid, credential, idp: provider, amr, ...time, id_token: idToken, totp: totpSecret }
  return internalJwts.sign(
    'login-progress',
    { ...claims, browser: digestOf(csrf) },
    { lifeSeconds, jti: sid },
  )
}

/** @returns undefined for a ticket that is invalid, expired, or of another browser */
export async function readProgressTicket(
  { internalJwts, users }: Pick<GrantTools, 'internalJwts' | 'users'>,
  { ticket, csrf, returnTo }: { readonly ticket: string; readonly csrf: string; readonly returnTo: string },
): Promise<LoginProgress | undefined> {
  const claims = await internalJwts.verify('login-progress', ticket)
  const user = claims && users.get(String(claims.sub))
  if (claims === undefined || user === undefined) return undefined
  if (user.uid !== claims.uid || user.credential !== claims.credential) return undefined
  if (claims.browser !== digestOf(csrf)) return undefined
  assertUserEnabled(user)
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  return {
    ...{ user, returnTo, sid: claims.jti, provider: text('idp'), amr: text('amr') },
    authTime: typeof claims.auth_time === 'number' ? claims.auth_time : undefined,
    idToken: text('id_token') || undefined,
    totpSecret: text('totp') || undefined,
  }
}

function digestOf(csrf: string): string {
  return createHash('sha256').update(csrf).digest('base64url')
}
