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
   * Undefined when the provider was not asked for groups: then the user has none of it. `unknown` when it was asked and said
   * nothing: then those that it said before count, for as long as groupsMaxAge says.
   */
  readonly groups: readonly string[] | undefined | 'unknown'
  /** What the provider is shown when the person logs out there as well. */
  readonly idToken?: string
}

/** Where the person types the password into a form of ours. */
export type PasswordProvider = {
  readonly kind: 'password'
  /**
   * @param found told of the uid of the person whose password it would be, before the password is judged; '' for one without
   * @throws Status as refusal.ts has them
   */
  readonly authenticate: (
    login: { readonly username: string; readonly password: string },
    signal: AbortSignal,
    found: (uid: string) => void,
  ) => Promise<Identity>
  /** The person as he is now, without a password; undefined when he is gone. */
  readonly find?: (uid: string, signal: AbortSignal) => Promise<Identity | undefined>
}

/** What binds a redirect to the browser that it was begun in; it is new for each login and never leaves the two of us. */
export type Transaction = {
  readonly state: string
  /** Returned in the ID token (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly nonce: string
  /** RFC 7636. */
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** What the provider is asked to do although it may have a login of the person already (OpenID Connect Core section 3.1.2.1). */
export type UpstreamPrompt = 'login' | 'select_account'

/** Where the browser is sent away and comes back with a code. */
export type RedirectProvider = {
  readonly kind: 'redirect'
  /** Where the provider sends the browser back to; '' for our own callback. */
  readonly redirectUrl: string
  /** Where to send the browser. @throws Status when the provider cannot be asked where that is */
  readonly begin: (transaction: Transaction, signal: AbortSignal, prompt?: UpstreamPrompt) => Promise<URL>
  /** @param callback the URL that the browser came back with. @throws Status as refusal.ts has them */
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
