import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isRecord } from '../../kubeclient/object/object.ts'

export type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'

/** An attestation without certificates has some 500 bytes, and a credential id up to 1,023. */
const maxLength = 16 * 1024

type ResponseFields = { readonly id: string; readonly response: Readonly<Record<string, unknown>> }

/** Reads a new passkey of a browser (RegistrationResponseJSON). @returns undefined if it is none */
export function parseRegistration(text: string): RegistrationResponseJSON | undefined {
  const parts = parseCredential(text)
  if (parts === undefined) return undefined
  const { id, response } = parts
  const { clientDataJSON, attestationObject, transports = [] } = response
  if (!isBase64Url(clientDataJSON) || !isBase64Url(attestationObject) || !isTransports(transports))
    return undefined
  return { ...toCredential(id), response: { clientDataJSON, attestationObject, transports } }
}

/** Reads the use of a passkey (AuthenticationResponseJSON). @returns undefined if it is none */
export function parseAssertion(text: string): AuthenticationResponseJSON | undefined {
  const parts = parseCredential(text)
  if (parts === undefined) return undefined
  const { id, response } = parts
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  if (!isBase64Url(clientDataJSON) || !isBase64Url(authenticatorData) || !isBase64Url(signature))
    return undefined
  const assertion = { clientDataJSON, authenticatorData, signature }
  // Authenticators may omit the user handle if the server has sent credential IDs.
  if (userHandle === undefined || userHandle === null || userHandle === '')
    return { ...toCredential(id), response: assertion }
  return isBase64Url(userHandle) ? { ...toCredential(id), response: { ...assertion, userHandle } } : undefined
}

function parseCredential(text: string): ResponseFields | undefined {
  if (text.length > maxLength) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { id, rawId, type, response } = value
  if (!isBase64Url(id) || rawId !== id || type !== 'public-key' || !isRecord(response)) return undefined
  return { id, response }
}

function toCredential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

function isBase64Url(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]+$/.test(value)
}

/** Unknown transports are kept: browsers may understand them later (section 5.2.1). */
function isTransports(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= 10 &&
    value.every(each => typeof each === 'string' && /^[a-z-]{1,32}$/.test(each))
  )
}
