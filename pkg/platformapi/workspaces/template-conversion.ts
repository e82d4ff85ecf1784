import { badRequest, invalid } from '../../apierrors/status.ts'
import { fieldText, withFields, withoutField } from '../../json/fields.ts'
import { stringifyExactly } from '../../json/stringify.ts'
import { fieldsOf, isRecord, textOf } from '../../kubeclient/object/object.ts'
import { type Form, objectBytes, platformForm } from '../../resourcecache/list/list-body.ts'
import { isEmpty, objectAt, parseSent, type Sent } from '../write/sent-object.ts'

/** Version of WorkspaceTemplate in the API, and of the stored Workspace. */
const templateVersion = 'v1alpha2'
const workspaceVersion = 'v1alpha1'

export function workspacesPath(groupDomain: string): string {
  return `/apis/tenant.${groupDomain}/${workspaceVersion}/workspaces`
}

/**
 * Converts a Workspace to the WorkspaceTemplate of KubeSphere 3.4: `spec` becomes
 * `spec.template.spec`. All other fields are unchanged.
 */
export function createTemplateForm(groupDomain: string): Form {
  return {
    name: 'workspace template',
    isComputed: true,
    toParts: entry => [
      Buffer.from(toTemplateText(objectBytes(entry, platformForm).toString('utf8'), groupDomain)),
    ],
  }
}

/** @param workspace JSON of a Workspace */
export function toTemplateText(workspace: string, groupDomain: string): string {
  const spec = fieldText(workspace, 'spec') || '{}'
  return withFields(
    withoutField(workspace, ['metadata', 'managedFields']),
    new Map([
      ['kind', '"WorkspaceTemplate"'],
      ['apiVersion', JSON.stringify(`tenant.${groupDomain}/${templateVersion}`)],
      ['spec', `{"placement":{},"template":{"metadata":{},"spec":${spec}}}`],
      ['status', undefined],
    ]),
  )
}

/**
 * Converts a WorkspaceTemplate to a Workspace.
 *
 * @param name from the path; undefined for a new one
 * @throws Status 400 if the body is not a WorkspaceTemplate, 422 for unsupported fields
 */
export function toWorkspace(body: unknown, groupDomain: string, name?: string): Sent {
  const group = `tenant.${groupDomain}`
  const kind = { kind: 'WorkspaceTemplate', apiVersion: `${group}/${templateVersion}` }
  const { spec, status: _, metadata, ...rest } = parseSent(body, { ...kind, name })
  const template = readTemplate(spec, { group, name: textOf(metadata.name) })
  return {
    ...rest,
    apiVersion: `${group}/${workspaceVersion}`,
    kind: 'Workspace',
    metadata: withTemplateMetadata(metadata, template),
    spec: template.spec ?? {},
  }
}

/** Converts a Merge Patch of a WorkspaceTemplate to one of a Workspace. @throws Status 400, 422 */
export function toWorkspaceMergePatch(patch: unknown, { groupDomain, name }: PatchTarget): Sent {
  if (!isRecord(patch)) throw badRequest('the body must be a JSON Merge Patch: an object')
  const { apiVersion: _, kind: __, spec, ...rest } = patch
  const template = readTemplate(spec, { group: `tenant.${groupDomain}`, name })
  const isRemoved = spec === null || fieldsOf(spec).template === null
  const desired = isRemoved ? null : template.spec
  const metadata = withTemplateMetadata(objectAt(rest, 'metadata'), template)
  return {
    ...rest,
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(desired !== undefined && { spec: desired }),
  }
}

type PatchTarget = { readonly groupDomain: string; readonly name: string }

/**
 * Converts a JSON Patch (RFC 6902) of a WorkspaceTemplate to one of a Workspace.
 *
 * @throws Status 400 for an unsupported path, 422 for unsupported fields
 */
export function toWorkspaceJsonPatch(patch: unknown, { groupDomain, name }: PatchTarget): readonly Sent[] {
  if (!Array.isArray(patch) || !patch.every(isRecord))
    throw badRequest('the body must be a JSON Patch: a list of operations')
  return patch.map(operation => {
    const { path, value } = operation
    if (path === '/spec' && isRecord(value)) {
      const template = readTemplate(value, { group: `tenant.${groupDomain}`, name })
      if (Object.keys(withTemplateMetadata({}, template)).length > 0)
        throw badRequest('invalid value of /spec: expected labels and annotations below /metadata')
      return { ...operation, value: template.spec ?? {} }
    }
    return {
      ...operation,
      path: toWorkspacePointer(path),
      ...('from' in operation ? { from: toWorkspacePointer(operation.from) } : {}),
    }
  })
}

function toWorkspacePointer(pointer: unknown): string {
  if (typeof pointer === 'string') {
    if (/^\/metadata(\/|$)/.test(pointer)) return pointer
    const [, below] = /^\/spec\/template\/spec(\/.*)?$/s.exec(pointer) ?? ['', null]
    if (below !== null) return `/spec${below ?? ''}`
  }
  throw badRequest(
    `invalid path ${stringifyExactly(pointer)}: expected one below /metadata or /spec/template/spec`,
  )
}

/**
 * Adds the labels and annotations of the template to those of the object, which take precedence.
 */
function withTemplateMetadata(metadata: Sent, template: Sent): Sent {
  const own = objectAt(template, 'spec.template.metadata')
  const merged = ['labels', 'annotations'].flatMap(key => {
    const added = objectAt(own, `spec.template.metadata.${key}`)
    const isEmpty = Object.keys(added).length === 0
    return isEmpty ? [] : [[key, { ...added, ...objectAt(metadata, `metadata.${key}`) }] as const]
  })
  return { ...metadata, ...Object.fromEntries(merged) }
}

/**
 * Returns `spec.template`.
 *
 * @throws Status 400 for values that are not objects; 422 for fields that a Workspace does not
 * have, such as placement and overrides that select clusters: there is only one cluster
 */
function readTemplate(spec: unknown, object: { readonly group: string; readonly name: string }): Sent {
  const { overrides, ...others } = objectAt({ spec }, 'spec')
  const template = objectAt(others, 'spec.template')
  const problems = [
    ...unknownIn(others, 'spec', ['template', 'placement']),
    ...unknownIn(template, 'spec.template', ['metadata', 'spec']),
    ...unknownIn(objectAt(template, 'spec.template.metadata'), 'spec.template.metadata', [
      'labels',
      'annotations',
    ]),
    ...(isEmpty(overrides) ? [] : ['spec.overrides']),
    ...(isDelegated(objectAt(others, 'spec.placement')) ? ['spec.placement'] : []),
  ]
  objectAt(template, 'spec.template.spec')
  if (problems.length === 0) return template
  throw invalid(
    { ...object, kind: 'WorkspaceTemplate' },
    problems.map(field => ({
      reason: 'FieldValueForbidden',
      message: 'workspaces exist in this cluster only: only spec.template is supported',
      field,
    })),
  )
}

function unknownIn(object: Sent, path: string, known: readonly string[]): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) =>
    known.includes(key) || value === null ? [] : [`${path}.${key}`],
  )
}

function isDelegated({ clusters, ...others }: Sent): boolean {
  const isHere = Array.isArray(clusters) && clusters.every(each => fieldsOf(each).name === 'host')
  return !(isHere || isEmpty(clusters)) || !Object.values(others).every(isEmpty)
}
