import { badRequest } from '../../apierrors/status.ts'
import { isRecord } from '../../kubeclient/object/object.ts'

/** An object from a caller; kube-apiserver validates the fields that are not parsed here. */
export type Sent = Readonly<Record<string, unknown>>

export type SentObjectWithLabels = Sent & { readonly metadata: Sent & { readonly labels: Sent } }

/**
 * Parses the fields of an object that Kapis itself sets. A value of another type would be lost.
 *
 * @param expected `apiVersion` and `kind` may be missing in the body
 * @param expected.name from the path; undefined for a new object
 * @throws Status 400
 */
export function parseSent(
  body: unknown,
  expected: { readonly kind: string; readonly apiVersion?: string; readonly name?: string | undefined },
): SentObjectWithLabels {
  const { kind, apiVersion, name } = expected
  if (!isRecord(body)) throw badRequest(`the body must be a ${kind} as a JSON object`)
  const isVersion = apiVersion === undefined || (body.apiVersion ?? apiVersion) === apiVersion
  if ((body.kind ?? kind) !== kind || !isVersion)
    throw badRequest(`the body must be a ${kind}${apiVersion === undefined ? '' : ` of ${apiVersion}`}`)
  const metadata = objectAt(body, 'metadata')
  if (name !== undefined && metadata.name !== name)
    throw badRequest(`metadata.name must be the name in the path, ${JSON.stringify(name)}`)
  return { ...body, metadata: { ...metadata, labels: objectAt(metadata, 'metadata.labels') } }
}

/**
 * Returns an object in an object; {} if it is missing or null.
 *
 * @param path of the field, whose last segment is its name
 * @throws Status 400 if it is another value
 */
export function objectAt(within: Sent, path: string): Sent {
  const value = within[path.slice(path.lastIndexOf('.') + 1)] ?? {}
  if (!isRecord(value)) throw badRequest(`${path} must be an object`)
  return value
}

/** Returns whether a value is missing, null, or an object or a list without content. */
export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

/**
 * Returns a JSON Merge Patch or a JSON Patch that also sets labels, so that a patch cannot move an
 * object out of its workspace or scope.
 *
 * @throws Status 400 for a merge patch that removes all labels, or has a directive `$patch`
 */
export function keepLabels(patch: unknown, labels: Readonly<Record<string, string>>): unknown {
  const kept = Object.entries(labels)
  if (kept.length === 0) return patch
  if (Array.isArray(patch)) {
    const toPointer = (key: string) => `/metadata/labels/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return [...patch, ...kept.map(([key, value]) => ({ op: 'add', path: toPointer(key), value }))]
  }
  if (!isRecord(patch)) return patch
  const metadata = objectAt(patch, 'metadata')
  const sent = objectAt(metadata, 'metadata.labels')
  // A directive of a strategic merge patch, such as `$patch: delete`, would apply to all labels.
  if ([patch, metadata, sent].some(part => Object.hasOwn(part, '$patch')))
    throw badRequest(`$patch is not supported here: the label ${kept[0]?.[0]} is required`)
  if (patch.metadata === null || metadata.labels === null)
    throw badRequest(`metadata.labels must be an object: the label ${kept[0]?.[0]} is required`)
  return { ...patch, metadata: { ...metadata, labels: { ...sent, ...labels } } }
}
