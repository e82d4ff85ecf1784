import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, exportPKCS8, generateKeyPair, importPKCS8, SignJWT, UnsecuredJWT } from 'jose'
import { startTlsServer } from './tls-server.ts'

export type Claims = Readonly<Record<string, unknown>>
export type UpstreamResponse = (res: ServerResponse) => void

/** Changes to the correct responses of the provider; an empty object changes nothing. */
export type ProviderFaults = {
  readonly claims?: (good: Claims) => Claims
  readonly sign?: (claims: Claims) => Promise<string>
  readonly metadata?: Claims
  /** Responses that replace the correct ones, by path. */
  readonly responses?: Readonly<Record<string, UpstreamResponse>>
  readonly userinfo?: Claims
  /** Parameters that are added to the redirect to the client. */
  readonly callback?: Readonly<Record<string, string>>
}

export function json(res: ServerResponse, code: number, body: unknown): void {
  res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Starts an OpenID provider whose responses can all be replaced by invalid ones. */
export async function startFaultyProvider(clientId: string) {
  const pair = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const own = await exportPKCS8(pair.privateKey)
  const foreign = await exportPKCS8((await generateKeyPair('RS256', { extractable: true })).privateKey)
  const said: { lies: ProviderFaults; nonce: string } = { lies: {}, nonce: '' }

  const sign = async (claims: Claims, pkcs8: string, kid = 'k1') =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(await importPKCS8(pkcs8, 'RS256'))

  async function respond(url: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', url)
    const { lies } = said
    const lie = lies.responses?.[pathname]
    if (lie !== undefined) return lie(res)
    if (pathname === '/.well-known/openid-configuration') {
      return json(res, 200, {
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        userinfo_endpoint: `${url}/me`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...lies.metadata,
      })
    }
    if (pathname === '/auth') {
      said.nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      const parameters = { code: 'c', state: searchParams.get('state') ?? '', ...lies.callback }
      for (const [name, value] of Object.entries(parameters)) back.searchParams.set(name, value)
      return void res.writeHead(302, { location: back.href }).end()
    }
    if (pathname === '/keys') return json(res, 200, { keys: [jwk] })
    if (pathname === '/me') return json(res, 200, lies.userinfo ?? { sub: 'u1' })
    const now = Math.floor(Date.now() / 1000)
    const good = {
      iss: url,
      sub: 'u1',
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce: said.nonce,
      preferred_username: 'ann',
    }
    const claims = lies.claims?.(good) ?? good
    const idToken = await (lies.sign ?? (each => sign(each, own)))(claims)
    json(res, 200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token: idToken })
  }

  const server = await startTlsServer(url => (req, res) => void respond(url, req, res))
  return {
    ...server,
    /** Sets the changes, and the nonce of the next ID token. */
    said,
    /** Functions that create invalid ID tokens. */
    forged: {
      byAnotherKey: (claims: Claims) => sign(claims, foreign),
      byAnUnknownKey: (claims: Claims) => sign(claims, foreign, 'k2'),
      unsigned: async (claims: Claims) => new UnsecuredJWT({ ...claims }).encode(),
      byItsPublicKey: (claims: Claims) =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(Buffer.from(JSON.stringify(jwk))),
    },
  }
}

export type FaultyProvider = Awaited<ReturnType<typeof startFaultyProvider>>
