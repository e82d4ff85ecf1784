import {
  type CompactJWSHeaderParameters,
  CompactSign,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose'
import type { ExchangePolicy } from '../config/sections/token-exchange.ts'

/** Creates an issuer of a CI system, the key of a client, and service accounts, all in memory. */
export async function memoryWorkloads() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kty: 'RSA' as const }] }
  const policies: ExchangePolicy[] = []
  /** User names by token and audience. */
  const serviceAccounts = new Map<string, string>()
  const state = { isDown: false }
  return {
    state,
    jwks,
    policies,
    serviceAccounts,
    sign(claims: JWTPayload, header: { readonly alg?: string; readonly typ?: string } = {}) {
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({ iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: 'RS256', ...header })
        .sign(privateKey)
    },
    /** Signs any text as the payload, with any header. */
    signText: (text: string, header: CompactJWSHeaderParameters = { alg: 'RS256' }) =>
      new CompactSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(privateKey),
    fetch: async () => Response.json(jwks),
    async issuerKeys() {
      if (state.isDown) throw new Error('connect ECONNREFUSED')
      return createLocalJWKSet(jwks)
    },
    reviewServiceAccount: async (token: string, audience: string) =>
      serviceAccounts.get(`${token} ${audience}`),
  }
}
