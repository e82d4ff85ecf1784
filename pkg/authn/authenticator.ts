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
): (req: IncomingMessage) => Promise<Authenticated> | Authenticated {
  type Outcome = Promise<Authenticated> | Authenticated

  /** From the authenticator at this place on; a promise only where one has to wait. */
  function tryFrom(place: number, req: IncomingMessage, broken: unknown): Outcome {
    const next = authenticators[place]
    if (next === undefined) return nobody(broken)
    const { name } = next
    let answer: Promise<Identity | null> | Identity | null
    try {
      answer = next.authenticate(req)
    } catch (error) {
      return refused(name, error)
    }
    return answer instanceof Promise
      ? answer.then(
          identity => found(name, identity),
          error => refused(name, error),
        )
      : found(name, answer)

    function found(method: string, identity: Identity | null): Outcome {
      if (identity === null) return tryFrom(place + 1, req, broken)
      observe(method, 'success')
      return { identity: remembered(identity), method }
    }

    function refused(method: string, error: unknown): Outcome {
      observe(method, 'failure')
      if (error instanceof Status && error.code >= 500) throw error
      return tryFrom(place + 1, req, broken ?? error)
    }
  }
  return req => tryFrom(0, req, undefined)
}

function nobody(broken: unknown): Authenticated {
  if (broken === undefined) return { identity: anonymous, method: 'anonymous' }
  throw unauthorized(broken)
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
