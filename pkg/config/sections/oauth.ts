import { z } from 'zod'
import { integer, optionalText, section, text } from '../option.ts'
import { client } from './client.ts'

const year = 31_536_000

/** The OAuth server: its issuer, the life of what it issues, and its clients. */
export const oauth = section({
  issuer: optionalText({
    env: 'KAPIS_OAUTH_ISSUER',
    pattern: /^https?:\/\/[^?#]+[^/?#]$/,
    is: 'an http(s) URL without query, fragment or trailing slash',
    description:
      'URL of the token issuer as its users reach it: `iss` of every token. Changing it ends every login. By default `/oauth` at localhost and `listen.port`.',
  }),
  productName: text({
    default: 'Kapis',
    env: 'KAPIS_OAUTH_PRODUCT_NAME',
    pattern: /^[^\p{Cc}]{1,60}$/u,
    is: 'up to 60 characters',
    description: 'What the login pages call the platform.',
  }),
  socket: text({
    default: '/run/kapis/oauth.sock',
    env: 'KAPIS_OAUTH_SOCKET',
    description: 'Unix socket between the two programs.',
  }),
  audience: optionalText({
    env: 'KAPIS_OAUTH_AUDIENCE',
    description:
      'Audience of access tokens: what the JWT authenticator of kube-apiserver is told to accept. `groupDomain` by default.',
  }),
  accessTokenSeconds: integer({
    default: 7200,
    min: 60,
    max: 86_400,
    description: 'Life of an access token, in seconds.',
  }),
  refreshTokenSeconds: integer({
    default: 14_400,
    min: 60,
    max: year,
    description: 'Life of a refresh token, in seconds; a login that is not refreshed for so long ends.',
  }),
  loginMaxAgeSeconds: integer({
    default: 2_592_000,
    min: 60,
    max: year,
    description: 'The longest that a login goes on, in seconds, however often it is refreshed.',
  }),
  clockSkewSeconds: integer({
    default: 10,
    min: 0,
    max: 300,
    description: 'How far clocks may differ when the times of a token are judged, in seconds.',
  }),
  keyRotationSeconds: integer({
    default: 2_592_000,
    min: 60,
    max: year,
    description:
      'For how long a key signs tokens before a new one does, in seconds. The new one is published an hour before, or a quarter of this time if that is less; the old one is kept for as long as a token of it is good.',
  }),
  clients: z.array(client, { error: 'must be a list' }).optional().meta({
    description:
      'OAuth clients: a list with the members that are described below. Without it there are two: `kapis` with the secret `kapis`, and `kapis-cli`, the public one of `kapis login` (redirectURIs: [http://127.0.0.1/callback]). Name your own in production, `kapis-cli` among them if people are to use `kapis login`.',
  }),
}).superRefine(({ accessTokenSeconds, refreshTokenSeconds, clients = [] }, { addIssue }) => {
  if (refreshTokenSeconds < accessTokenSeconds)
    addIssue({
      code: 'custom',
      path: ['refreshTokenSeconds'],
      message: 'must not be shorter than oauth.accessTokenSeconds',
    })
  const names = clients.map(({ client: { name } }) => name)
  for (const name of new Set(names.filter((known, i) => names.indexOf(known) !== i)))
    addIssue({ code: 'custom', path: ['clients'], message: `the name ${name} is given twice` })
})
