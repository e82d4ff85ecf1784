import type { Identity } from '../apirequest/identity/identity.ts'
import type { RequestInfo } from '../apirequest/request-info.ts'
import type { FieldRequirement } from '../apirequest/selector/field-selector.ts'
import type { LabelRequirement } from '../apirequest/selector/label-selector.ts'
import { authorizationExtra } from './authorization-extra.ts'
import type { AccessAttributes } from './review/rule.ts'

/** The attributes that a SubjectAccessReview contains; omitted ones are empty. */
export type ReviewedAttributes = AccessAttributes &
  Partial<Pick<RequestInfo, 'version' | 'fieldSelector' | 'labelSelector'>>

/** The spec of a SubjectAccessReview of authorization.k8s.io/v1. */
export type ReviewSpec = {
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: Readonly<Record<string, unknown>>
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
}

const labelOperators = { in: 'In', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist' } as const

/** Returns the spec of a SubjectAccessReview; like client-go, omits empty fields. */
export function toReviewSpec(info: ReviewedAttributes, identity: Identity): ReviewSpec {
  const { username: user, uid, groups } = identity
  const extra = authorizationExtra(identity)
  if (!info.isResource) {
    return { user, uid, groups, extra, nonResourceAttributes: { path: info.path, verb: info.verb } }
  }
  const { verb, group, version = '', resource, subresource, namespace, name } = info
  const named = { verb, group, version, resource, subresource, namespace, name }
  const present = Object.entries(named).filter(([, value]) => value !== '')
  const resourceAttributes = { ...Object.fromEntries(present), ...toSelectors(info) }
  return { user, uid, groups, extra, resourceAttributes }
}

/** Returns the selectors for authorizers that grant parts of a list (KEP-4601). */
function toSelectors({ fieldSelector, labelSelector }: ReviewedAttributes): Record<string, unknown> {
  // A review with an empty key is invalid, but kube-apiserver accepts a list with a term such as
  // `=a`, which matches no field.
  const fields = fieldSelector?.requirements.filter(({ field }) => field !== '') ?? []
  const labels = labelSelector?.requirements ?? []
  return {
    ...(fields.length > 0 ? { fieldSelector: { requirements: fields.map(toFieldRequirement) } } : {}),
    ...(labels.length > 0 && labels.every(isExpressible)
      ? { labelSelector: { requirements: labels.map(toLabelRequirement) } }
      : {}),
  }
}

function toFieldRequirement({ field, operator, value }: FieldRequirement) {
  return { key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] }
}

type ExpressibleRequirement = LabelRequirement & { readonly operator: keyof typeof labelOperators }

function isExpressible(requirement: LabelRequirement): requirement is ExpressibleRequirement {
  return requirement.operator in labelOperators
}

function toLabelRequirement({ key, operator, values }: ExpressibleRequirement) {
  return { key, operator: labelOperators[operator], ...(values.length > 0 ? { values } : {}) }
}
