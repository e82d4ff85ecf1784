import { importJWK, SignJWT } from 'jose'
import { generateKey, type KeySet, loadKeySet, type StoredKey } from './key-set.ts'
import type { KeySource } from './key-source.ts'

export const issuer = 'https://localhost:9443/oauth'
export const audience = 'kapis.io'

/** Creates a source of signing keys in memory. */
export async function memoryKeys(): Promise<KeySource & { stored: readonly StoredKey[]; set: KeySet }> {
  const stored = [await generateKey('ES256', 0), await generateKey('RS256', 0)]
  const set = await loadKeySet(stored)
  return { stored, set, current: () => set }
}

/** Signs a token that Kapis would never issue; undefined in `changes` removes a claim. */
export async function forge(
  key: StoredKey,
  changes: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const claims: Record<string, unknown> = {
    iss: issuer,
    sub: 'alice',
    aud: [audience],
    exp: now + 60,
    iat: now,
    jti: 'jti-1',
    sid: 'sid-1',
    client_id: 'kapis',
    scope: '',
    token_type: 'access_token',
    ...changes,
  }
  for (const [name, value] of Object.entries(changes)) if (value === undefined) delete claims[name]
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(await importJWK(key.jwk, key.alg), { crit: { x: true } })
}
