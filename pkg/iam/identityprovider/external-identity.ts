import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'

/** An account at an identity provider, after a login there. */
export type Identity = {
  /** The permanent ID of the account at the provider. */
  readonly uid: string
  /** As the provider returns it; user-name.ts converts it to a Kubernetes name. */
  readonly username: string
  /** The verified e-mail address, or ''. */
  readonly email: string
  readonly displayName: string
  /**
   * The groups; undefined if groups are not configured, so the user has none. `unknown` if the
   * provider returned none: then the previous groups stay until groupsMaxAge.
   */
  readonly groups: readonly string[] | undefined | 'unknown'
  /** How the provider has authenticated the user, as far as it is known. */
  readonly amr?: AuthenticationMethods
  /** The id_token_hint for a logout at the provider. */
  readonly idToken?: string
}

/** Providers whose password is entered in a form of Kapis. */
export type PasswordProvider = {
  readonly kind: 'password'
  /**
   * @param found called with the uid of the account before the password is checked; '' if it has
   * none
   * @throws Status, see login-refusal.ts
   */
  readonly authenticate: (
    login: { readonly username: string; readonly password: string },
    signal: AbortSignal,
    found: (uid: string) => void,
  ) => Promise<Identity>
  /** Reads the account without a password; undefined if it was deleted. */
  readonly find?: (uid: string, signal: AbortSignal) => Promise<Identity | undefined>
}

/**
 * Secrets that bind a redirect to the browser; new for each login, and known only to Kapis and the
 * browser.
 */
export type Transaction = {
  readonly state: string
  /** Returned in the ID token (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly nonce: string
  /** RFC 7636. */
  readonly codeVerifier: string
  readonly redirectUri: string
}

/**
 * What the provider must require although the user is logged in there (prompt, max_age; OpenID
 * Connect Core section 3.1.2.1).
 */
export type UpstreamPrompt = 'login' | 'select_account'

/** A provider with a redirect: the browser returns with a code. */
export type RedirectProvider = {
  readonly kind: 'redirect'
  /** The redirect URI; '' for the callback of Kapis. */
  readonly redirectUrl: string
  /**
   * Returns the URL to redirect to.
   *
   * @throws Status if the provider is not available
   */
  readonly begin: (transaction: Transaction, signal: AbortSignal, prompt?: UpstreamPrompt) => Promise<URL>
  /**
   * @param callback the URL of the redirect back
   * @throws Status, see login-refusal.ts
   */
  readonly finish: (callback: URL, transaction: Transaction, signal: AbortSignal) => Promise<Identity>
  /** Returns the logout URL of the provider; undefined if that is not configured. */
  readonly logoutUrl?: ((logout: UpstreamLogout) => URL) | undefined
}

/** OpenID Connect RP-Initiated Logout 1.0 section 2. */
export type UpstreamLogout = {
  /** The redirect URI and the state. */
  readonly returnUri: string
  readonly state: string
  /** '' if it has expired; the provider may then ask the user. */
  readonly idToken: string
}

export type ProviderClient = PasswordProvider | RedirectProvider
