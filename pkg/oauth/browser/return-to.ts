/** The path of the page that lists the second factors. */
export const factorsPath = '/oauth/factors'

/** The paths that a login may continue with. */
const destinations: ReadonlySet<string> = new Set([
  '/oauth/authorize',
  '/oauth/device',
  '/oauth/session',
  factorsPath,
])

export const defaultReturnTo = '/oauth/session'

/** Maximum length of an authorization request, which encoding may triple in a link. */
export const maxReturnTo = 8 * 1024

/**
 * Returns the path to continue with after a login. Only local paths are valid: otherwise a link to
 * the login page could lead to another site (open redirect). Any other value is replaced by the
 * path of the session page.
 */
export function readReturnTo(target: string | undefined): string {
  // Browsers treat \ as /, and remove tabs and line breaks from a URL, so such paths are rejected.
  if (target === undefined || target.length > maxReturnTo || !/^\/oauth\/[\x21-\x5b\x5d-\x7e]*$/.test(target))
    return defaultReturnTo
  const [path = '', ...query] = target.split('?')
  if (!destinations.has(path) || target.includes('#')) return defaultReturnTo
  return query.length === 0 ? path : `${path}?${query.join('?')}`
}

/** Returns a link to the login page that continues with `returnTo`. */
export function toLoginPath(returnTo: string, more: Readonly<Record<string, string>> = {}): string {
  return `/oauth/login?${new URLSearchParams({ return_to: returnTo, ...more })}`
}
