/** The pages that someone may be on the way to when a login comes in between. */
const destinations: ReadonlySet<string> = new Set(['/oauth/authorize', '/oauth/device', '/oauth/session'])

export const defaultReturnTo = '/oauth/session'

/** An authorization request in full. In the link to the login page it may be three times as long. */
export const maxReturnTo = 8 * 1024

/**
 * Where to go after a login: a path of ours and nothing else, or anyone who makes up a link to our login page could have it end
 * at his own (open redirect). What is no such path becomes the page that says who is logged in.
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
