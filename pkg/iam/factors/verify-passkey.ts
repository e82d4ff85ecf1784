import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { COSEALG, decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers'
import { isRecord } from '../../kubeclient/object/object.ts'
import type { User } from '../users/user.ts'
import type { Passkey, RelyingParty } from './passkey.ts'

// This module is only loaded at the first use of a passkey: the library takes 0.3 s and 27 MB.

/** In the order of preference: Ed25519, P-256, and RSA for older TPMs. */
const supportedAlgorithmIDs: number[] = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256]
/** The time that Web Authentication recommends (section 15.1). The challenge is valid for longer. */
const timeout = 300_000
/** An RSA key of 4,096 bits has some 530 bytes. */
const maxKeyBytes = 1024
const maxIdBytes = 1023

type Owner = Pick<User, 'name' | 'uid' | 'displayName'>
type KnownPasskey = Pick<Passkey, 'id' | 'transports'>
type Expected = { readonly party: RelyingParty; readonly challenge: string }

/** Returns the options of navigator.credentials.create, as JSON. */
export function creationOptions(
  { party, challenge }: Expected,
  user: Owner,
  passkeys: readonly KnownPasskey[],
) {
  return generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: user.name,
    userDisplayName: user.displayName || user.name,
    userID: Buffer.from(toHandle(user), 'base64url'),
    challenge: Buffer.from(challenge, 'base64url'),
    timeout,
    attestationType: 'none',
    excludeCredentials: passkeys.map(toDescriptor),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs,
  })
}

/** Returns the options of navigator.credentials.get, as JSON. */
export function requestOptions({ party, challenge }: Expected, passkeys: readonly KnownPasskey[]) {
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: Buffer.from(challenge, 'base64url'),
    timeout,
    allowCredentials: passkeys.map(toDescriptor),
    userVerification: 'preferred',
  })
}

/** Verifies a new passkey. @returns undefined if it is invalid */
export async function verifyRegistration(
  { party, challenge }: Expected,
  user: Pick<User, 'uid'>,
  response: RegistrationResponseJSON,
): Promise<Omit<Passkey, 'name' | 'createdAtMs' | 'lastUsedAtMs'> | undefined> {
  try {
    if (isForeign(response) || hasCertificates(response)) return undefined
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      supportedAlgorithmIDs,
    })
    const credential = registrationInfo?.credential
    if (credential === undefined || credential.id !== response.id) return undefined
    const { id, publicKey, counter, transports = [] } = credential
    if (publicKey.length > maxKeyBytes || Buffer.byteLength(id, 'base64url') > maxIdBytes) return undefined
    const key = Buffer.from(publicKey).toString('base64url')
    return { id, publicKey: key, counter, transports, userHandle: toHandle(user) }
  } catch {
    // The library throws for every invalid response.
    return undefined
  }
}

/**
 * Verifies the use of a passkey, except for the signature counter, which the caller compares with
 * the stored one.
 *
 * @returns the counter; undefined if the response is invalid
 */
export async function verifyAssertion(
  { party, challenge }: Expected,
  { id, publicKey, userHandle: expected }: Pick<Passkey, 'id' | 'publicKey' | 'userHandle'>,
  response: AuthenticationResponseJSON,
): Promise<Pick<Passkey, 'counter'> | undefined> {
  const { userHandle } = response.response
  if (userHandle !== undefined && userHandle !== expected) return undefined
  try {
    if (isForeign(response)) return undefined
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      credential: { id, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 },
    })
    return verified ? { counter: authenticationInfo.newCounter } : undefined
  } catch {
    return undefined
  }
}

/** Reports whether the page was in a frame of another site, which the pages of Kapis forbid. */
function isForeign({ response }: { response: { clientDataJSON: string } }): boolean {
  const data: unknown = JSON.parse(isoBase64URL.toUTF8String(response.clientDataJSON))
  return !isRecord(data) || data.crossOrigin === true || data.topOrigin !== undefined
}

/**
 * Reports whether an attestation contains certificates. Kapis requests none, and browsers remove
 * them. The library would fetch revocation lists from the URLs in them.
 */
function hasCertificates({ response }: RegistrationResponseJSON): boolean {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
  const format = attestation.get('fmt')
  if (format === 'none') return false
  return format !== 'packed' || attestation.get('attStmt').get('x5c') !== undefined
}

/** Returns the user handle of new passkeys, which must not be personal (section 14.6.1). */
function toHandle({ uid }: Pick<User, 'uid'>): string {
  return Buffer.from(uid).toString('base64url')
}

function toDescriptor({ id, transports }: KnownPasskey) {
  return { id, transports: [...transports] }
}
