/** The page of the second factors. */
export const factorsPath = '/oauth/factors'

/** The pages that a login may continue with. */
const destinations: ReadonlySet<string> = new Set([
  '/oauth/authorize',
  '/oauth/device',
  '/oauth/session',
  factorsPath,
])

export const defaultReturnTo = '/oauth/session'

/**
 * Maximum length of an authorization request. Percent-encoded in the link to the login page it may
 * be three times as long.
 */
export const maxReturnTo = 8 * 1024

/**
 * Validates where to continue after a login: only local paths, since otherwise a link to the login
 * page could lead to another site (open redirect). Any other value becomes the page that shows the
 * session.
 */
export function readReturnTo(given: string | undefined): string {
  // Browsers treat \ as /, and remove tabs and line breaks before they parse a URL.
  if (given === undefined || given.length > maxReturnTo || !/^\/oauth\/[\x21-\x5b\x5d-\x7e]*$/.test(given))
    return defaultReturnTo
  const [path = '', ...query] = given.split('?')
  if (!destinations.has(path) || given.includes('#')) return defaultReturnTo
  return query.length === 0 ? path : `${path}?${query.join('?')}`
}

/** A link to the login page that returns to `returnTo`. */
export function toLoginPath(returnTo: string, more: Readonly<Record<string, string>> = {}): string {
  return `/oauth/login?${new URLSearchParams({ return_to: returnTo, ...more })}`
}
