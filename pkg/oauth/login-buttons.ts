import type { Provider } from '../iam/identityprovider/provider-store.ts'

/** A way to log in other than a local password, as shown on a login page. */
export type LoginButton = {
  readonly name: string
  readonly displayName: string
  /**
   * `redirect`: a link to `path` with return_to sends the browser to the provider. `password`: the
   * page has fields for user name and password, and posts them to `path`.
   */
  readonly kind: 'redirect' | 'password'
  readonly path: string
}

/** Returns a login button for each provider that is not hidden. */
export function listLoginButtons(providers: Iterable<Provider>): readonly LoginButton[] {
  return [...providers]
    .filter(({ config }) => !config.hidden)
    .map(({ config: { name, displayName }, client: { kind } }) => ({
      name,
      displayName,
      kind,
      path: `/oauth/login/${encodeURIComponent(name)}`,
    }))
}
