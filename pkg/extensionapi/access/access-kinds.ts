import type { ServedResource } from '../discovery/served-group.ts'
import type { SpecField } from './review-spec.ts'

/** A kind that is created but not stored: the response contains its status. */
export type AccessKind = ServedResource & {
  readonly plural: 'whocans' | 'accessiblenamespaces' | 'subjectaccessreports' | 'explainaccesses'
  readonly spec: readonly SpecField[]
  readonly attributeFields: readonly string[]
}

const createOnly = { namespaced: false, verbs: ['create'] } as const
const attributeFields = ['verb', 'group', 'version', 'resource', 'subresource', 'name']

export const accessKinds: readonly AccessKind[] = [
  {
    ...createOnly,
    plural: 'whocans',
    singular: 'whocan',
    kind: 'WhoCan',
    spec: ['resourceAttributes', 'nonResourceAttributes'],
    attributeFields: [...attributeFields, 'namespace'],
  },
  {
    ...createOnly,
    plural: 'accessiblenamespaces',
    singular: 'accessiblenamespaces',
    kind: 'AccessibleNamespaces',
    spec: ['user', 'groups', 'resourceAttributes'],
    attributeFields,
  },
  {
    ...createOnly,
    plural: 'subjectaccessreports',
    singular: 'subjectaccessreport',
    kind: 'SubjectAccessReport',
    spec: ['user', 'groups', 'namespace'],
    attributeFields: [],
  },
  {
    ...createOnly,
    plural: 'explainaccesses',
    singular: 'explainaccess',
    kind: 'ExplainAccess',
    spec: ['user', 'groups', 'resourceAttributes', 'nonResourceAttributes'],
    attributeFields: [...attributeFields, 'namespace'],
  },
]
