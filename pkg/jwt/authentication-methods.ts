/** How a user has authenticated: values of RFC 8176 section 2 in order of use; or ''. */
export type AuthenticationMethods = string

/**
 * A second factor that Kapis verifies. `otp` is also used for recovery codes, which are one-time
 * passwords. A passkey is `pop` (OpenID Connect EAP ACR Values 1.0) with `user`, since the user was
 * present: without attestation it is unknown whether the key is in hardware (`hwk`).
 */
export type FactorMethod = 'otp' | 'pop' | 'user'

const factorMethods: ReadonlySet<string> = new Set(['otp', 'pop'] satisfies FactorMethod[])

/** The authentication context classes (`acr`), weakest first: one factor, two factors. */
export const contextClasses = ['sfa', 'mfa'] as const

export type ContextClass = (typeof contextClasses)[number]

/** Adds a verified second factor to the methods of a login. */
export function withFactor(
  methods: AuthenticationMethods,
  factor: readonly FactorMethod[],
): AuthenticationMethods {
  const before = list(methods).filter(method => method !== 'mfa')
  return [...new Set([...before, ...factor, 'mfa'])].join(' ')
}

/** Reports whether two factors were verified, by Kapis or an identity provider. */
export function isMultiFactor(methods: AuthenticationMethods): boolean {
  return list(methods).includes('mfa')
}

/** Reports whether Kapis itself has verified a second factor. */
export function hasOwnFactor(methods: AuthenticationMethods): boolean {
  return list(methods).some(method => factorMethods.has(method))
}

/** Returns the strongest context class of the methods; undefined if unknown. */
export function contextClassOf(methods: AuthenticationMethods): ContextClass | undefined {
  const known = list(methods)
  if (known.length === 0) return undefined
  return known.includes('mfa') ? 'mfa' : 'sfa'
}

/**
 * Returns the context class that the client prefers if the methods satisfy none of its `acr_values`
 * (OpenID Connect Core section 3.1.2.1); undefined otherwise. Unknown values are ignored, since
 * acr_values is a voluntary request.
 */
export function missingContextClass(
  acrValues: string | undefined,
  methods: AuthenticationMethods,
): ContextClass | undefined {
  const accepted = list(acrValues ?? '').flatMap(value => contextClasses.find(each => each === value) ?? [])
  const reached = contextClasses.indexOf(contextClassOf(methods) ?? 'sfa')
  return accepted.some(each => contextClasses.indexOf(each) <= reached) ? undefined : accepted[0]
}

/** Returns the claims `amr` and `acr` (OpenID Connect Core section 2, RFC 9068 section 2.2.1). */
export function methodClaims(methods: AuthenticationMethods) {
  const acr = contextClassOf(methods)
  return acr === undefined ? {} : { amr: list(methods), acr }
}

/** How the user of a token has logged in, and when (seconds since the epoch). */
export type TokenLogin = { readonly amr: AuthenticationMethods; readonly authTime: number }

/**
 * Returns the claims for servers that require a recent login or a second factor (RFC 9068 section
 * 2.2.1, RFC 9470 section 6).
 *
 * @param login undefined for a token that was issued without a login
 */
export function loginClaims(login: TokenLogin | undefined) {
  return login === undefined || login.authTime === 0
    ? {}
    : { auth_time: login.authTime, ...methodClaims(login.amr) }
}

/** Returns the claims of `loginClaims` from a verified token. */
export function readLoginClaims({ auth_time: authTime, amr }: Claims): TokenLogin | undefined {
  if (typeof authTime !== 'number') return undefined
  return {
    authTime,
    amr: Array.isArray(amr) ? amr.filter(method => typeof method === 'string').join(' ') : '',
  }
}

type Claims = Readonly<Record<string, unknown>>

function list(methods: AuthenticationMethods): readonly string[] {
  return methods.split(' ').filter(method => method !== '')
}
