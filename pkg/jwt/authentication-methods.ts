/**
 * How a user has authenticated: values of RFC 8176 section 2, separated by spaces, in the order of
 * use; '' if unknown.
 */
export type AuthenticationMethods = string

/** A local second factor. `otp` is also for a recovery code, which is a password for one use. */
export type FactorMethod = 'otp' | 'hwk' | 'swk' | 'user'

const factorMethods: ReadonlySet<string> = new Set(['otp', 'hwk', 'swk'] satisfies FactorMethod[])

/** The authentication context classes (`acr`), from the weakest: one factor, two factors. */
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

/** Whether two factors were verified, by Kapis or an identity provider. */
export function isMultiFactor(methods: AuthenticationMethods): boolean {
  return list(methods).includes('mfa')
}

/** Whether Kapis itself has verified a second factor. */
export function hasOwnFactor(methods: AuthenticationMethods): boolean {
  return list(methods).some(method => factorMethods.has(method))
}

/** @returns undefined if the methods are unknown */
export function contextClassOf(methods: AuthenticationMethods): ContextClass | undefined {
  const known = list(methods)
  if (known.length === 0) return undefined
  return known.includes('mfa') ? 'mfa' : 'sfa'
}

/**
 * Returns the context class that a client prefers if the methods reach none of those it accepts
 * (`acr_values`, OpenID Connect Core section 3.1.2.1); undefined if nothing is missing. Unknown
 * values do not count, since the parameter is voluntary.
 */
export function missingContextClass(
  acrValues: string | undefined,
  methods: AuthenticationMethods,
): ContextClass | undefined {
  const accepted = list(acrValues ?? '').flatMap(value => contextClasses.find(each => each === value) ?? [])
  const reached = contextClasses.indexOf(contextClassOf(methods) ?? 'sfa')
  return accepted.some(each => contextClasses.indexOf(each) <= reached) ? undefined : accepted[0]
}

/** The claims `amr` and `acr` (OpenID Connect Core section 2, RFC 9068 section 2.2.1). */
export function methodClaims(methods: AuthenticationMethods) {
  const acr = contextClassOf(methods)
  return acr === undefined ? {} : { amr: list(methods), acr }
}

function list(methods: AuthenticationMethods): readonly string[] {
  return methods.split(' ').filter(method => method !== '')
}
