import type { IncomingMessage } from 'node:http'
import { Status, unauthorized } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { anonymous, withAuthenticatedGroup } from '../apirequest/identity/identity.ts'
import { identityProblem } from '../apirequest/identity/identity-problem.ts'

/** Authenticates a request; null without such a credential. @throws Status if it is invalid */
export type Authenticator = {
  readonly name: string
  readonly authenticate: (req: IncomingMessage) => Promise<Identity | null> | Identity | null
}

export type Authentication = { readonly identity: Identity; readonly method: string }

/** Called with each result and the name of the authenticator, but no credential. */
export type AuthenticationObserver = (method: string, result: 'success' | 'failure') => void

/**
 * Combines authenticators: the first that recognizes the caller decides. If none does, an invalid
 * credential leads to 401 and never to the anonymous user, as in k8s.io/apiserver. An identity that
 * headers cannot transport unchanged is rejected, regardless of its authenticator.
 *
 * @throws Status 401; 403 for an identity that cannot be used; 429 for a locked user; 503 if an
 * authenticator failed
 */
export function createUnion(
  authenticators: readonly Authenticator[],
  observe: AuthenticationObserver,
): (req: IncomingMessage) => Promise<Authentication> | Authentication {
  type Outcome = Promise<Authentication> | Authentication

  /** Runs the authenticators from `index` on. Returns a promise only if one of them does. */
  function tryFrom(index: number, req: IncomingMessage, broken: unknown): Outcome {
    const next = authenticators[index]
    if (next === undefined) return withoutIdentity(broken)
    const { name } = next
    let result: Promise<Identity | null> | Identity | null
    try {
      result = next.authenticate(req)
    } catch (error) {
      return toRejection(name, error)
    }
    return result instanceof Promise
      ? result.then(
          identity => toOutcome(name, identity),
          error => toRejection(name, error),
        )
      : toOutcome(name, result)

    function toOutcome(method: string, identity: Identity | null): Outcome {
      if (identity === null) return tryFrom(index + 1, req, broken)
      const usable = complete(identity)
      if (typeof usable === 'string')
        return toRejection(method, new UnusableIdentity(method, usable, identity))
      observe(method, 'success')
      return { identity: usable, method }
    }

    function toRejection(method: string, error: unknown): Outcome {
      observe(method, 'failure')
      // A caller who was recognized and rejected must not get another identity.
      if (error instanceof Status && (error.code >= 500 || error.code === 403 || error.code === 429))
        throw error
      return tryFrom(index + 1, req, broken ?? error)
    }
  }
  return req => tryFrom(0, req, undefined)
}

function withoutIdentity(broken: unknown): Authentication {
  if (broken === undefined) return { identity: anonymous, method: 'anonymous' }
  if (broken instanceof Status && broken.code === 401) throw broken
  throw unauthorized(broken)
}

// Authenticators cache identities. Equal identities must be the same object, since it is a cache
// key elsewhere.
const completed = new WeakMap<Identity, Identity | string>()

/** Returns the identity with the group of authenticated users, or why it cannot be used. */
function complete(identity: Identity): Identity | string {
  const known = completed.get(identity)
  if (known !== undefined) return known
  const made = identityProblem(identity) ?? withAuthenticatedGroup(identity)
  completed.set(identity, made)
  return made
}

/** A 403 for an authenticated caller with an unusable identity, which the audit log gets. */
export class UnusableIdentity extends Status {
  readonly identity: Identity
  readonly method: string

  constructor(method: string, problem: string, identity: Identity) {
    super(403, 'Forbidden', `the identity from ${method} authentication cannot be used: ${problem}`)
    this.identity = withAuthenticatedGroup(identity)
    this.method = method
  }
}
