import { createHash, randomUUID } from 'node:crypto'
import type { User } from '../../iam/users/user.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import type { GrantTools } from '../tokens/grant.ts'

/** An authenticated user whose login may have further steps. */
export type LoginProgress = {
  readonly user: User
  /** The name of the identity provider; '' for a local password. */
  readonly provider: string
  readonly amr: AuthenticationMethods
  /** When the user logged in, in seconds since the epoch; defaults to now. */
  readonly authTime?: number | undefined
  /** The ID token of the provider, kept until the logout (see upstream-logout.ts). */
  readonly idToken?: string | undefined
  readonly returnTo: string
  /** The sid of the browser session, so that all steps of a login lead to one session. */
  readonly sid: string
  /** When the login began, in seconds since the epoch: its pages are valid for a limited time. */
  readonly beganAt: number
  /** Whether the login continues a browser session, instead of following a new authentication. */
  readonly isInSession: boolean
  /** The secret of an authenticator app that is being set up. */
  readonly totpSecret?: string | undefined
  /** The challenge for a passkey on the page of this ticket. */
  readonly challenge?: string | undefined
}

const lifeSeconds = 600
// Otherwise each page with an error would prolong a login, and its password, for another ten minutes.
const wholeLifeSeconds = 1_800

/** @param isInSession whether the login continues a browser session */
export function newProgress(
  done: Omit<LoginProgress, 'sid' | 'beganAt' | 'isInSession'>,
  { isInSession = false } = {},
): LoginProgress {
  return { ...done, sid: randomUUID(), beganAt: Math.floor(Date.now() / 1000), isInSession }
}

/**
 * Issues a ticket with the progress of a login, for a hidden field of the next form. It is signed,
 * and valid for ten minutes in this browser. It becomes invalid when the password changes, half an
 * hour after the login began, and with the browser session that it continues.
 *
 * @param csrf the CSRF token of the browser
 */
export function issueProgressTicket(
  { internalJwts }: Pick<GrantTools, 'internalJwts'>,
  progress: LoginProgress,
  csrf: string,
): Promise<string> {
  const { user, provider, amr, authTime, idToken = '', sid, totpSecret = '', challenge = '' } = progress
  const { name: sub, uid, credential } = user
  const time = authTime === undefined ? {} : { auth_time: authTime }
  const page = { totp: totpSecret, challenge }
  const from = { began: progress.beganAt, session: Number(progress.isInSession) }
  const claims = { sub, uid, credential, idp: provider, amr, ...time, id_token: idToken, ...page, ...from }
  return internalJwts.sign(
    'login-progress',
    { ...claims, browser: digestOf(csrf) },
    { lifeSeconds, jti: sid },
  )
}

type ProgressInput = {
  readonly ticket: string
  readonly csrf: string
  readonly returnTo: string
  readonly sessionUser: () => Promise<Pick<User, 'uid'> | undefined>
}

/** @returns undefined if the ticket is invalid or expired, or belongs to another browser or an ended session */
export async function readProgressTicket(
  { internalJwts, users }: Pick<GrantTools, 'internalJwts' | 'users'>,
  { ticket, csrf, returnTo, sessionUser }: ProgressInput,
): Promise<LoginProgress | undefined> {
  const claims = await internalJwts.verify('login-progress', ticket)
  const user = claims && users.get(String(claims.sub))
  if (claims === undefined || user === undefined) return undefined
  if (user.uid !== claims.uid || user.credential !== claims.credential) return undefined
  if (claims.browser !== digestOf(csrf)) return undefined
  const { began: beganAt } = claims
  if (typeof beganAt !== 'number' || Date.now() / 1000 > beganAt + wholeLifeSeconds) return undefined
  assertUserEnabled(user)
  const isInSession = claims.session === 1
  if (isInSession && (await sessionUser())?.uid !== user.uid) return undefined
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  return {
    ...{ user, returnTo, sid: claims.jti, provider: text('idp'), amr: text('amr'), beganAt, isInSession },
    authTime: typeof claims.auth_time === 'number' ? claims.auth_time : undefined,
    idToken: text('id_token') || undefined,
    totpSecret: text('totp') || undefined,
    challenge: text('challenge') || undefined,
  }
}

function digestOf(csrf: string): string {
  return createHash('sha256').update(csrf).digest('base64url')
}
