/** The pages that someone may be on the way to when a login comes in between. */
const destinations: ReadonlySet<string> = new Set(['/oauth/authorize', '/oauth/device', '/oauth/session'])

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
  // A browser takes \ for /, and drops tabs and line ends, before it looks at the rest.
  if (given === undefined || given.length > maxReturnTo || !/^\/oauth\/[\x21-\x5b\x5d-\x7e]*$/.test(given))
    return defaultReturnTo
  const [path = '', ...query] = given.split('?')
  if (!destinations.has(path) || given.includes('#')) return defaultReturnTo
  return query.length === 0 ? path : `${path}?${query.join('?')}`
}

/** A link to the login page that comes back to `returnTo`. */
export function toLoginPath(returnTo: string, more: Readonly<Record<string, string>> = {}): string {
  return `/oauth/login?${new URLSearchParams({ return_to: returnTo, ...more })}`
}
