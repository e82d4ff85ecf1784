/** User name and password of a Basic credential, unchanged. */
export type BasicCredential = { readonly id: string; readonly secret: string }

/** The challenge in WWW-Authenticate (RFC 7617 section 2.1). */
export const basicChallenge = 'Basic realm="kapis", charset="UTF-8"'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reports whether a header uses the scheme Basic, valid or not. */
export function isBasic(authorization: string | undefined): boolean {
  return /^basic( |$)/i.test(authorization ?? '')
}

/**
 * Parses an Authorization header of HTTP Basic (RFC 7617). Characters that Buffer would skip or
 * replace are rejected, since they would silently change the password.
 *
 * @returns undefined for invalid base64 or UTF-8, or without a colon
 */
export function readBasic(authorization: string): BasicCredential | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+)={0,2} *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== encoded) return undefined
  const text = decode(bytes)
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 0) return undefined
  return { id: text.slice(0, colon), secret: text.slice(colon + 1) }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
