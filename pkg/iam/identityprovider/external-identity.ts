import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'

/** An account at an identity provider, as a login returns it. */
export type Identity = {
  /** The permanent ID of the account at the provider. */
  readonly uid: string
  /** The name at the provider; user-name.ts converts it to a Kubernetes name. */
  readonly username: string
  /** The verified e-mail address, or ''. */
  readonly email: string
  readonly displayName: string
  /**
   * The groups at the provider; undefined if groups are not configured, so that the user has none.
   * `unknown` means that the provider sent no groups: the previous groups stay until groupsMaxAge.
   */
  readonly groups: readonly string[] | undefined | 'unknown'
  /** How the provider has authenticated the user, as far as known. */
  readonly amr?: AuthenticationMethods
  /** The ID token of the login, for id_token_hint at a logout. */
  readonly idToken?: string
}

/** A provider whose password is entered in a form of Kapis. */
export type PasswordProvider = {
  readonly kind: 'password'
  /**
   * @param found called with the uid of the account before the password is checked; '' if the
   * account has no uid
   * @throws Status, see login-error.ts
   */
  readonly authenticate: (
    login: { readonly username: string; readonly password: string },
    signal: AbortSignal,
    found: (uid: string) => void,
  ) => Promise<Identity>
  /** Reads an account without its password; undefined if the account was deleted. */
  readonly find?: (uid: string, signal: AbortSignal) => Promise<Identity | undefined>
}

/** Values that bind a redirect to the browser, new for each login. */
export type Transaction = {
  readonly state: string
  /** The nonce that the ID token must contain (OpenID Connect Core section 3.1.2.1). */
  readonly nonce: string
  /** The PKCE code verifier (RFC 7636). */
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** Requires the provider to prompt the user again (prompt, max_age; OIDC Core 3.1.2.1). */
export type UpstreamPrompt = 'login' | 'select_account'

/** A provider that the browser is redirected to, and returns from with a code. */
export type RedirectProvider = {
  readonly kind: 'redirect'
  /** The redirect URI; '' for the callback of Kapis. */
  readonly redirectUrl: string
  /** Returns the URL to redirect to. @throws Status if the provider is not available */
  readonly begin: (transaction: Transaction, signal: AbortSignal, prompt?: UpstreamPrompt) => Promise<URL>
  /** Completes a login. @param callback the redirected URL @throws Status, see login-error.ts */
  readonly finish: (callback: URL, transaction: Transaction, signal: AbortSignal) => Promise<Identity>
  /** Returns the logout URL of the provider; absent if no logout is configured. */
  readonly logoutUrl?: ((logout: UpstreamLogout) => URL) | undefined
}

/** Parameters of a logout at the provider (OpenID Connect RP-Initiated Logout 1.0 section 2). */
export type UpstreamLogout = {
  /** The redirect URI after the logout, and the state that it gets back. */
  readonly returnUri: string
  readonly state: string
  /** The id_token_hint; '' without an ID token. The provider may then prompt the user. */
  readonly idToken: string
}

export type ProviderClient = PasswordProvider | RedirectProvider
