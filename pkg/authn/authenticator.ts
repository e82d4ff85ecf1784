import type { IncomingMessage } from 'node:http'
import type { Identity } from '../request/identity.ts'
import { anonymous, withAuthenticatedGroup } from '../request/identity.ts'
import { Status, unauthorized } from '../status/status.ts'

/** Finds out who calls: null when the request has no credential of this kind. @throws Status when it has a broken one */
export type Authenticator = {
  readonly name: string
  readonly authenticate: (req: IncomingMessage) => Promise<Identity | null> | Identity | null
}

/** The caller, and by which authenticator it was found out. */
export type Authenticated = { readonly identity: Identity; readonly method: string }

/** Told of every outcome, by the authenticator's name; never of a credential. */
export type AuthenticationObserver = (method: string, result: 'success' | 'failure') => void

/**
 * The first authenticator that knows the caller decides. A broken credential is remembered while the others are tried: if
 * none of them knows the caller the answer is 401, and never the anonymous user, as k8s.io/apiserver has it.
 *
 * @throws Status 401; 503 when one of them could not find out
 */
export function createUnion(
  authenticators: readonly Authenticator[],
  observe: AuthenticationObserver,
): (req: IncomingMessage) => Promise<Authenticated> {
  return async req => {
    let broken: unknown
    for (const { name, authenticate } of authenticators) {
      try {
        const found = authenticate(req)
        const identity = found instanceof Promise ? await found : found
        if (identity === null) continue
        observe(name, 'success')
        return { identity: remembered(identity), method: name }
      } catch (error) {
        observe(name, 'failure')
        if (error instanceof Status && error.code >= 500) throw error
        broken ??= error
      }
    }
    if (broken === undefined) return { identity: anonymous, method: 'anonymous' }
    throw unauthorized(broken)
  }
}

// Identities live in the authenticators' caches; giving out one object for one identity lets others key on it.
const completed = new WeakMap<Identity, Identity>()

function remembered(identity: Identity): Identity {
  const known = completed.get(identity)
  if (known) return known
  const complete = withAuthenticatedGroup(identity)
  completed.set(identity, complete)
  return complete
}
