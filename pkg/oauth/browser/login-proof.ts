import { createHash } from 'node:crypto'
import type { InternalJwts } from '../../jwt/internal-jwt.ts'
import { type Form, parseQuery } from '../server/form.ts'

/** The parameter of an authorization request with the proof that its login page was completed. */
export const proofParameter = 'login_proof'

/**
 * `login`: the user has authenticated for this request. `choice`: the user has selected the current
 * login. `consent`: the consent page for this request has been shown to the login.
 */
export type ProofKind = 'login' | 'choice' | 'consent'

// `login` is short, as the browser continues immediately; others wait for the user.
const lifeSeconds: Readonly<Record<ProofKind, number>> = { login: 120, choice: 600, consent: 600 }

const kinds = ['login', 'choice', 'consent'] as const satisfies readonly ProofKind[]

type ProofSubject = { readonly kind: ProofKind; readonly sid: string }

/**
 * Adds a proof to an authorization request that its login page was completed, for this request and
 * login. Without the proof, `prompt` and `max_age` of the request would lead to the login page
 * again (OpenID Connect Core section 3.1.2.3). Other paths are returned unchanged.
 */
export async function withLoginProof(
  internalJwts: InternalJwts,
  returnTo: string,
  { kind, sid }: ProofSubject,
): Promise<string> {
  const params = readAuthorizationRequest(returnTo)
  if (params === undefined) return returnTo
  return `${returnTo}&${proofParameter}=${await issueLoginProof(internalJwts, params, { kind, sid })}`
}

export function issueLoginProof(
  internalJwts: InternalJwts,
  params: Form,
  { kind, sid }: ProofSubject,
): Promise<string> {
  const claims = { kind, sid, request: digestOf(params) }
  return internalJwts.sign('login-proof', claims, { lifeSeconds: lifeSeconds[kind] })
}

/** @returns the kind of a proof for the login `sid` and the request; undefined if it is invalid */
export async function readLoginProof(
  internalJwts: InternalJwts,
  proof: string | undefined,
  { sid, params }: { readonly sid: string; readonly params: Form },
): Promise<ProofKind | undefined> {
  const claims = proof === undefined ? undefined : await internalJwts.verify('login-proof', proof)
  if (claims?.sid !== sid || claims.request !== digestOf(params)) return undefined
  return kinds.find(kind => kind === claims.kind)
}

/** Returns the authorization request that a login page continues with; else undefined. */
export function readAuthorizationRequest(returnTo: string): Form | undefined {
  const [path, query = ''] = returnTo.split(/\?(.*)/s)
  if (path !== '/oauth/authorize') return undefined
  try {
    const params = new Map(parseQuery(query))
    params.delete(proofParameter)
    return params
  } catch {
    // The authorization endpoint reports the invalid request.
    return undefined
  }
}

/** Returns a digest of the parsed parameters, which does not depend on their encoding. */
function digestOf(params: Form): string {
  return createHash('sha256')
    .update(String(new URLSearchParams([...params])))
    .digest('base64url')
}
