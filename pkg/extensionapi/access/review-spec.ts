import { badRequest, invalid } from '../../apierrors/status.ts'
import type { AccessAttributes } from '../../authz/review/rule.ts'
import { isRecord } from '../../kubeclient/object/object.ts'

export type ReviewSpec = {
  /** User and groups of the review; '' and no groups mean the caller. */
  readonly user: string
  readonly groups: readonly string[]
  /** The namespace of the review; '' for all namespaces. */
  readonly namespace: string
  readonly attributes: AccessAttributes | undefined
}

export type SpecField = 'user' | 'groups' | 'namespace' | 'resourceAttributes' | 'nonResourceAttributes'

/** The fields that the spec of a kind may contain. */
export type SpecForm = {
  readonly kind: { readonly group: string; readonly kind: string }
  readonly fields: readonly SpecField[]
  /** Allowed fields of resourceAttributes, in addition to the required `verb` and `resource`. */
  readonly attributeFields: readonly string[]
}

const textAttributes = ['verb', 'group', 'version', 'resource', 'subresource', 'name', 'namespace'] as const

/**
 * Parses the spec of a review strictly. Unknown fields are rejected: ignoring one would review a
 * different request.
 *
 * @throws Status 400 for unknown fields or wrong types, 422 for missing or contradictory ones
 */
export function parseReviewSpec(review: Readonly<Record<string, unknown>>, form: SpecForm): ReviewSpec {
  rejectUnknown(review, ['apiVersion', 'kind', 'metadata', 'spec', 'status'], '')
  recordOf(review.status ?? {}, 'status')
  const spec = recordOf(review.spec ?? {}, 'spec')
  rejectUnknown(spec, form.fields, 'spec.')
  const user = textOf(spec.user, 'spec.user')
  const groups = textsOf(spec.groups, 'spec.groups')
  const namespace = textOf(spec.namespace, 'spec.namespace')
  return { user, groups, namespace, attributes: parseAttributes(spec, form) }
}

// The fields of ObjectMeta, each with the value that is treated as unset.
const emptyMetadata = new Map<string, unknown>([
  ...['name', 'generateName', 'uid', 'resourceVersion', 'selfLink', 'deletionTimestamp'].map(
    key => [key, ''] as const,
  ),
  ...(['generation', 'deletionGracePeriodSeconds'] as const).map(key => [key, 0] as const),
  ...(['labels', 'annotations'] as const).map(key => [key, {}] as const),
  ...(['ownerReferences', 'finalizers'] as const).map(key => [key, []] as const),
])
// Clients set these fields, and kube-apiserver accepts them in a SubjectAccessReview.
const allowedMetadata: readonly string[] = ['namespace', 'creationTimestamp', 'managedFields']

/**
 * Checks the metadata of a review. As for a SubjectAccessReview, it must be empty.
 *
 * @throws Status 400 for an unknown field or a wrong type, 422 for a field that is set
 */
export function parseReviewMetadata(
  metadata: unknown,
  kind: SpecForm['kind'],
): Readonly<Record<string, unknown>> {
  const fields = recordOf(metadata ?? {}, 'metadata')
  rejectUnknown(fields, [...emptyMetadata.keys(), ...allowedMetadata], 'metadata.')
  for (const [key, value] of Object.entries(fields)) {
    const empty = emptyMetadata.get(key)
    if (empty === undefined || value === null) continue
    if (typeof value !== typeof empty || Array.isArray(value) !== Array.isArray(empty))
      throw badRequest(`invalid metadata.${key}: expected ${nameOfType(empty)}`)
    if (JSON.stringify(value) !== JSON.stringify(empty))
      throw invalid(kind, [
        { reason: 'FieldValueInvalid', message: 'Invalid value: must be empty', field: `metadata.${key}` },
      ])
  }
  return fields
}

function nameOfType(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object'
  return `a ${typeof value}`
}

function parseAttributes(
  spec: Readonly<Record<string, unknown>>,
  form: SpecForm,
): AccessAttributes | undefined {
  const allowed = form.fields.filter(field => field.endsWith('Attributes'))
  const present = allowed.filter(field => spec[field] !== undefined && spec[field] !== null)
  const [field, second] = present
  if (allowed.length === 0) return undefined
  if (field === undefined || second !== undefined)
    throw invalid(form.kind, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: exactly one of ${allowed.join(', ')} must be given`,
        field: 'spec',
      },
    ])
  const path = `spec.${field}`
  const attributes = recordOf(spec[field], path)
  if (field === 'nonResourceAttributes') {
    rejectUnknown(attributes, ['verb', 'path'], `${path}.`)
    const verb = textOf(attributes.verb, `${path}.verb`)
    const url = textOf(attributes.path, `${path}.path`)
    requireFields(form, path, { verb, path: url })
    return { isResource: false, verb, path: url }
  }
  rejectUnknown(attributes, form.attributeFields, `${path}.`)
  // The version is skipped: a SubjectAccessReview has it, but RBAC rules do not.
  const [verb, group, , resource, subresource, name, namespace] = textAttributes.map(key =>
    textOf(attributes[key], `${path}.${key}`),
  )
  const read = { verb: verb ?? '', resource: resource ?? '' }
  requireFields(form, path, read)
  return {
    isResource: true,
    ...read,
    group: group ?? '',
    subresource: subresource ?? '',
    name: name ?? '',
    namespace: namespace ?? '',
  }
}

function requireFields(form: SpecForm, path: string, fields: Readonly<Record<string, string>>): void {
  const causes = Object.entries(fields)
    .filter(([, value]) => value === '')
    .map(([name]) => ({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: `${path}.${name}`,
    }))
  if (causes.length > 0) throw invalid(form.kind, causes)
}

function rejectUnknown(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  prefix: string,
): void {
  const unknown = Object.keys(value).filter(key => !known.includes(key))
  if (unknown.length === 0) return
  const names = unknown.map(key => `unknown field ${JSON.stringify(prefix + key)}`).join(', ')
  throw badRequest(`strict decoding error: ${names}; supported: ${known.join(', ')}`)
}

function recordOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value
  throw badRequest(`invalid ${path}: expected an object`)
}

function textOf(value: unknown, path: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw badRequest(`invalid ${path}: expected a string`)
}

function textsOf(value: unknown, path: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value
  throw badRequest(`invalid ${path}: expected a list of strings`)
}
