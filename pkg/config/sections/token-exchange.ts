import { z } from 'zod'
import { integer, optionalText, requiredChoice, requiredText, section, text, texts } from '../option.ts'

const filled = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' })
// A policy with a misspelled claim name would silently never match.
const claimName = /^[^\s\p{Cc}](.{0,251}[^\s\p{Cc}])?$/u

export const exchangeSources = ['ServiceAccount', 'OIDC', 'User'] as const

/** A policy of token exchange (RFC 8693): which tokens clients may exchange, and for which user. */
export const exchangePolicy = section({
  name: requiredText({ description: 'Name of the policy, shown in the audit log. Required.' }),
  source: requiredChoice({
    of: exchangeSources,
    description:
      'Source of the tokens: `ServiceAccount` (of this cluster, checked by a TokenReview), `OIDC` (of another issuer, such as that of a CI system), or `User` (access tokens of Kapis, which are only narrowed). Required.',
  }),
  issuer: optionalText({
    pattern: /^https:\/\/[^?#@\s]+$/,
    is: 'an https URL without user, query and fragment',
    description: 'The `iss` claim; only for `OIDC`. The keys are found with OpenID Connect Discovery.',
  }),
  subjectAudience: optionalText({
    pattern: /^.+$/s,
    is: 'a text that is not empty',
    description:
      'Required audience of the subject token. Defaults to `oauth.issuer`. Not allowed if `source` is `User`.',
  }),
  subjects: texts({
    item: filled,
    description:
      'Accepted `sub` claims or user names, such as `system:serviceaccount:ci:runner` or `repo:acme/shop:ref:refs/heads/main`. If empty, every subject is accepted; `OIDC` and `ServiceAccount` then require `claims`.',
  }),
  claims: z
    .record(z.string(), z.string({ error: 'must be a string' }), { error: 'must be a mapping' })
    .default({})
    .meta({ description: 'Claims with their required values; only for `OIDC`.' }),
  clients: texts({ item: filled, description: 'Names of the OAuth clients that may use it. Required.' }),
  user: optionalText({
    pattern: /^.+$/s,
    is: 'the name of a User',
    description: 'The User that the token is for. Required, except for `User`, whose tokens keep their user.',
  }),
  scope: text({
    default: '',
    pattern: /^(read)?$/,
    is: 'read or empty',
    description: '`read` makes every token read-only; otherwise clients can request that scope.',
  }),
  audiences: texts({
    item: filled,
    description:
      'Audiences that clients may request. By default only `oauth.audience`. Kapis and kube-apiserver reject tokens for others.',
  }),
  maxSeconds: integer({
    default: 900,
    min: 60,
    max: 86_400,
    description:
      'Maximum lifetime of the token, in seconds. It outlives neither the exchanged token nor the access tokens of the client.',
  }),
}).superRefine((policy, { addIssue }) => {
  const problem = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message })
  const { source, issuer, claims } = policy
  const isOidc = source === 'OIDC'
  if (issuer?.startsWith('https://') && !URL.canParse(issuer)) problem('issuer', 'must be an https URL')
  for (const name of Object.keys(claims))
    if (!claimName.test(name)) problem('claims', `invalid claim name ${JSON.stringify(name)}`)
  if (isOidc !== (issuer !== undefined))
    problem('issuer', isOidc ? 'is required' : 'is only for the source OIDC')
  if (!isOidc && Object.keys(claims).length > 0) problem('claims', 'is only for the source OIDC')
  if (source !== 'User' && policy.subjects.length === 0 && Object.keys(claims).length === 0)
    problem('subjects', isOidc ? 'or claims is required' : 'is required')
  if (source === 'User' && policy.subjectAudience !== undefined)
    problem('subjectAudience', 'is not for the source User')
  if ((source === 'User') === (policy.user !== undefined))
    problem('user', source === 'User' ? 'is not for the source User' : 'is required')
  if (policy.clients.length === 0) problem('clients', 'is required')
})
export type ExchangePolicy = z.output<typeof exchangePolicy>
