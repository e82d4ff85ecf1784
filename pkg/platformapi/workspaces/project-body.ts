import { badRequest, type Cause, invalid } from '../../apierrors/status.ts'
import { isEmpty, objectAt, type Sent, type SentObjectWithLabels } from '../write/sent-object.ts'

export type ProjectOf = {
  readonly groupDomain: string
  readonly workspace: string
  /** The namespace of Kapis itself. */
  readonly ownNamespace: string
  readonly creator: string
}

/** A namespace of Kapis' own choice, and whether the body names another creator. */
export type Project = { readonly body: object; readonly isCreatorReplaced: boolean }

// Reserved by Kubernetes, OpenShift and KubeSphere for their components. Admission policies often
// exempt namespaces with such names.
const reserved = /^(?:default$|openshift$|(?:kube|openshift|kubesphere)-)/

/**
 * Returns the namespace to create with the permissions of Kapis. Only its name and the annotations
 * of KubeSphere come from the caller: other labels could select admission policies, network
 * policies and webhooks, and must not be in the hands of callers who may not create namespaces.
 *
 * @throws Status 400 for values of another type, 422 with each field that is not allowed
 */
export function toProject(sent: SentObjectWithLabels, of: ProjectOf): Project {
  const { groupDomain, workspace, creator } = of
  const { apiVersion: _, kind: __, metadata, ...rest } = sent
  const { labels, name: ___, generateName: ____, annotations: _____, ...others } = metadata
  const name = textAt(metadata, 'metadata.name')
  const generateName = textAt(metadata, 'metadata.generateName')
  const annotations = objectAt(metadata, 'metadata.annotations')
  const own = new Set(['alias-name', 'description', 'creator'].map(key => `${groupDomain}/${key}`))
  const workspaceLabel = `${groupDomain}/workspace`
  const isOwnLabel = ([key, value]: readonly [string, unknown]) =>
    (key === workspaceLabel && value === workspace) ||
    (key === 'kubernetes.io/metadata.name' && value === name)
  const fields = [
    ...namesOf(rest, ''),
    ...namesOf(others, 'metadata.'),
    ...Object.entries(labels).flatMap(label => (isOwnLabel(label) ? [] : [`metadata.labels[${label[0]}]`])),
    ...Object.keys(annotations).flatMap(key => (own.has(key) ? [] : [`metadata.annotations[${key}]`])),
  ]
  const causes = [
    ...reservedNames({ name, generateName }, of),
    ...fields.map(field => cause(field, 'requires permission to create namespaces')),
  ]
  if (causes.length > 0) throw invalid({ group: '', kind: 'Namespace', name: name ?? '' }, causes)
  const texts = [...own].flatMap(key => {
    const text = textAt(annotations, `metadata.annotations[${key}]`, key)
    return text === undefined ? [] : [[key, text] as const]
  })
  const creatorKey = `${groupDomain}/creator`
  const { [creatorKey]: named = creator, ...described } = Object.fromEntries(texts)
  return {
    isCreatorReplaced: named !== creator,
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        ...(name !== undefined && { name }),
        ...(generateName !== undefined && { generateName }),
        labels: { [workspaceLabel]: workspace },
        annotations: { ...described, [creatorKey]: creator },
      },
    },
  }
}

function namesOf(object: Sent, prefix: string): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) => (isEmpty(value) ? [] : [`${prefix}${key}`]))
}

function reservedNames(
  {
    name = '',
    generateName = '',
  }: { readonly name?: string | undefined; readonly generateName?: string | undefined },
  { ownNamespace }: ProjectOf,
): readonly Cause[] {
  const isReserved = (text: string) => reserved.test(text) || text === ownNamespace
  return [
    ...(isReserved(name) ? [cause('metadata.name', `${JSON.stringify(name)} is reserved`)] : []),
    // kube-apiserver appends random characters.
    ...(isReserved(`${generateName}x`)
      ? [cause('metadata.generateName', `${JSON.stringify(generateName)} is reserved`)]
      : []),
  ]
}

function cause(field: string, message: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field }
}

/** Returns a text; undefined if it is missing or null. @throws Status 400 for another value */
function textAt(within: Sent, path: string, key = path.slice(path.lastIndexOf('.') + 1)): string | undefined {
  const value = within[key] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw badRequest(`${path} must be a string`)
}
