/** What an identity provider says of a person who has just logged in there. */
export type Identity = {
  /** By which the provider knows the person, whatever else of him changes. */
  readonly uid: string
  /** As the provider spells it; user-name.ts makes a name for Kubernetes of it. */
  readonly username: string
  /** An address that the provider vouches for; '' when there is none. */
  readonly email: string
  readonly displayName: string
  /**
   * The groups; undefined if groups are not configured, so the user has none. `unknown` if the
   * provider returned none: then the previous groups stay until groupsMaxAge.
   */
  readonly groups: readonly string[] | undefined | 'unknown'
  /** What the provider is shown when the person logs out there as well. */
  readonly idToken?: string
}

/** Where the person types the password into a form of ours. */
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
  /** The person as he is now, without a password; undefined when he is gone. */
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
 * What the provider must do even if the user is logged in there (prompt, max_age; OpenID Connect
 * Core section 3.1.2.1).
 */
export type UpstreamPrompt = 'login' | 'select_account'

/** Where the browser is sent away and comes back with a code. */
export type RedirectProvider = {
  readonly kind: 'redirect'
  /** Where the provider sends the browser back to; '' for our own callback. */
  readonly redirectUrl: string
  /** Where to send the browser. @throws Status when the provider cannot be asked where that is */
  readonly begin: (transaction: Transaction, signal: AbortSignal, prompt?: UpstreamPrompt) => Promise<URL>
  /**
   * @param callback the URL of the redirect back
   * @throws Status, see login-refusal.ts
   */
  readonly finish: (callback: URL, transaction: Transaction, signal: AbortSignal) => Promise<Identity>
  /** Where a browser is sent to be logged out there too; undefined where that is not wanted. */
  readonly logoutUrl?: ((logout: UpstreamLogout) => URL) | undefined
}

/** OpenID Connect RP-Initiated Logout 1.0 section 2. */
export type UpstreamLogout = {
  /** Where the provider sends the browser back to, and what it brings along. */
  readonly returnUri: string
  readonly state: string
  /** '' when it is not known any more; then the provider may ask the person. */
  readonly idToken: string
}

export type ProviderClient = PasswordProvider | RedirectProvider
