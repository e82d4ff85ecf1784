import { z } from 'zod'
import { integer, optionalText, section, text } from '../option.ts'
import { client } from './client.ts'
import { exchangePolicy } from './token-exchange.ts'

const year = 31_536_000

/** The OAuth server: issuer, lifetimes and clients. */
export const oauth = section({
  issuer: optionalText({
    env: 'KAPIS_OAUTH_ISSUER',
    pattern: /^https?:\/\/[^?#]+[^/?#]$/,
    is: 'an http(s) URL without query, fragment or trailing slash',
    description:
      'URL of the token issuer as users reach it: `iss` of every token. Changing it ends every login. By default `https://localhost:<listen.port>/oauth`.',
  }),
  productName: text({
    default: 'Kapis',
    env: 'KAPIS_OAUTH_PRODUCT_NAME',
    pattern: /^[^\p{Cc}]{1,60}$/u,
    is: 'up to 60 characters',
    description: 'Name of the platform on the login pages.',
  }),
  socket: text({
    default: '/run/kapis/oauth.sock',
    env: 'KAPIS_OAUTH_SOCKET',
    description: 'Unix socket between kapis-apiserver and kapis-oauth.',
  }),
  audience: optionalText({
    env: 'KAPIS_OAUTH_AUDIENCE',
    description:
      'Audience of access tokens: configure the JWT authenticator of kube-apiserver to accept it. `groupDomain` by default.',
  }),
  accessTokenSeconds: integer({
    default: 7200,
    min: 60,
    max: 86_400,
    description: 'Lifetime of an access token, in seconds.',
  }),
  refreshTokenSeconds: integer({
    default: 14_400,
    min: 60,
    max: year,
    description: 'Lifetime of a refresh token, in seconds; a login that is not refreshed for this long ends.',
  }),
  loginMaxAgeSeconds: integer({
    default: 2_592_000,
    min: 60,
    max: year,
    description: 'Maximum age of a login, in seconds, however often it is refreshed.',
  }),
  clockSkewSeconds: integer({
    default: 10,
    min: 0,
    max: 300,
    description: 'Clock skew that is tolerated when the times of a token are checked, in seconds.',
  }),
  keyRotationSeconds: integer({
    default: 2_592_000,
    min: 60,
    max: year,
    description:
      'How long a signing key is used, in seconds. The next key is published an hour earlier, or a quarter of this time if that is less; the old key is published until its last token has expired.',
  }),
  clients: z.array(client, { error: 'must be a list' }).optional().meta({
    description:
      'OAuth clients: a list with the fields below. By default there are two: `kapis` with the secret `kapis`, and `kapis-cli`, the public client of `kapis login` (redirectURIs: [http://127.0.0.1/callback]). Set your own in production, including `kapis-cli` if users need `kapis login`.',
  }),
  tokenExchange: z.array(exchangePolicy, { error: 'must be a list' }).default([]).meta({
    description:
      'Policies of token exchange (RFC 8693): a list with the fields below. The first matching policy applies. Without a policy, no token can be exchanged.',
  }),
}).superRefine((section, { issues, addIssue }) => {
  // An invalid entry may lack fields that its type requires.
  if (issues.length > 0) return
  const { issuer, accessTokenSeconds, refreshTokenSeconds, clients = [], tokenExchange } = section
  const problem = (path: readonly (string | number)[], message: string) =>
    addIssue({ code: 'custom', path: [...path], message })
  if (refreshTokenSeconds < accessTokenSeconds)
    problem(['refreshTokenSeconds'], 'must not be shorter than oauth.accessTokenSeconds')
  for (const name of duplicates(clients.map(({ client }) => client.name)))
    problem(['clients'], `duplicate name ${JSON.stringify(name)}`)
  for (const name of duplicates(tokenExchange.map(policy => policy.name)))
    problem(['tokenExchange'], `duplicate name ${JSON.stringify(name)}`)
  for (const [i, policy] of tokenExchange.entries()) {
    if (issuer !== undefined && policy.issuer === issuer)
      problem(['tokenExchange', i, 'issuer'], 'must not be oauth.issuer: its tokens have the source User')
  }
})

function duplicates(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, i) => names.indexOf(name) !== i))
}
