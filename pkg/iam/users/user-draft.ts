import { badRequest, type Cause, invalid, type Status } from '../../apierrors/status.ts'
import { stringifyExactly } from '../../json/stringify.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { iamVersion, isPasswordHash, type UserState } from './user.ts'
import {
  emailProblem,
  groupProblem,
  isLikeHash,
  nameProblem,
  passwordProblem,
  problemAt,
} from './user-validation.ts'

/** The desired state of a user in a request. */
export type UserDraft = {
  readonly name: string
  /** The expected version; '' for an unconditional replacement. */
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** All fields of the spec except the password. */
  readonly spec: Readonly<Record<string, unknown>>
  /** Plain text or a bcrypt hash; undefined keeps the current password. */
  readonly password: string | undefined
  readonly state: UserState | undefined
}

const states: readonly UserState[] = ['Active', 'Disabled', 'AuthLimitExceeded']
const texts: Readonly<Record<string, number>> = { lang: 35, description: 1024, displayName: 253 }
const specMembers = ['email', 'lang', 'description', 'displayName', 'groups', 'password']

/**
 * Parses a User from a request.
 *
 * @param name from the path; undefined for a new user
 * @throws Status 400 if it is not a User, 422 with all invalid fields
 */
export function parseUserDraft(body: unknown, groupDomain: string, name?: string): UserDraft {
  const group = `iam.${groupDomain}`
  if (!isRecord(body)) throw badRequest('the body must be a User as a JSON object')
  const { apiVersion = `${group}/${iamVersion}`, kind = 'User' } = body
  if (apiVersion !== `${group}/${iamVersion}` || kind !== 'User')
    throw badRequest(`the body must be a User of ${group}/${iamVersion}`)
  const metadata = member(body, 'metadata')
  const spec = member(body, 'spec')
  const status = member(body, 'status')
  const bodyName = metadata.name ?? name
  if (name !== undefined && bodyName !== name)
    throw badRequest(`metadata.name must be the name in the path, ${JSON.stringify(name)}`)
  const causes = [
    ...unknownCauses(body, '', ['apiVersion', 'kind', 'metadata', 'spec', 'status']),
    ...textCauses('metadata.name', bodyName, nameProblem),
    ...mapCauses('metadata.labels', metadata.labels),
    ...mapCauses('metadata.annotations', metadata.annotations),
    ...specCauses(spec),
    ...stateCauses(status.state),
  ]
  if (causes.length > 0) throw invalidUser(groupDomain, typeof bodyName === 'string' ? bodyName : '', causes)
  const { password, ...rest } = spec
  return {
    name: String(bodyName),
    resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '',
    labels: toMap(metadata.labels),
    annotations: toMap(metadata.annotations),
    spec: rest,
    password: typeof password === 'string' ? password : undefined,
    state: states.find(state => state === status.state),
  }
}

/** Returns a 422 in the format of kube-apiserver. */
export function invalidUser(groupDomain: string, name: string, causes: readonly Cause[]): Status {
  return invalid({ group: `iam.${groupDomain}`, kind: 'User', name }, causes)
}

function unknownCauses(object: object, prefix: string, known: readonly string[]): readonly Cause[] {
  const unknown = Object.keys(object).filter(key => !known.includes(key))
  return unknown.flatMap(key => problemAt(`${prefix}${key}`, `unknown; supported: ${known.join(', ')}`))
}

function specCauses(spec: Readonly<Record<string, unknown>>): readonly Cause[] {
  const { email, groups, password } = spec
  return [
    ...unknownCauses(spec, 'spec.', specMembers),
    ...textCauses('spec.email', email, emailProblem),
    ...Object.entries(texts).flatMap(([key, max]) =>
      spec[key] === undefined || spec[key] === ''
        ? []
        : textCauses(`spec.${key}`, spec[key], text =>
            text.length <= max ? undefined : `must have at most ${max} characters`,
          ),
    ),
    ...groupCauses(groups),
    ...(password === undefined || password === null
      ? []
      : textCauses('spec.password', password, newPasswordProblem)),
  ]
}

/** Validates a new password. A bcrypt hash is accepted unchanged. */
function newPasswordProblem(password: string): string | undefined {
  if (isPasswordHash(password)) return undefined
  if (isLikeHash(password)) return 'must be a bcrypt hash with a cost from 4 to 15'
  return passwordProblem(password)
}

function groupCauses(groups: unknown): readonly Cause[] {
  if (groups === undefined || groups === null) return []
  if (!Array.isArray(groups) || groups.length > 256)
    return problemAt('spec.groups', 'must be a list of at most 256 groups')
  const repeated = groups.filter((group, i) => groups.indexOf(group) !== i)
  return [
    ...groups.flatMap((group, i) => textCauses(`spec.groups[${i}]`, group, groupProblem)),
    ...repeated.flatMap(group =>
      problemAt('spec.groups', `must not contain ${stringifyExactly(group)} twice`),
    ),
  ]
}

function stateCauses(state: unknown): readonly Cause[] {
  if (state === undefined || state === null || state === '') return []
  const isState = states.some(known => known === state)
  return problemAt('status.state', isState ? undefined : `must be one of ${states.join(', ')}`)
}

function textCauses(
  field: string,
  value: unknown,
  rule: (text: string) => string | undefined,
): readonly Cause[] {
  if (value === undefined || value === null || value === '')
    return [{ reason: 'FieldValueRequired', message: 'is required', field }]
  return problemAt(field, typeof value === 'string' ? rule(value) : 'must be a string')
}

function mapCauses(field: string, value: unknown): readonly Cause[] {
  if (value === undefined || value === null) return []
  const isMap = isRecord(value) && Object.values(value).every(text => typeof text === 'string')
  return problemAt(field, isMap ? undefined : 'must be a map of strings')
}

function member(body: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const value = body[key] ?? {}
  if (isRecord(value)) return value
  throw badRequest(`${key} must be a JSON object`)
}

function toMap(value: unknown): Readonly<Record<string, string>> {
  const entries = isRecord(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]))
}
