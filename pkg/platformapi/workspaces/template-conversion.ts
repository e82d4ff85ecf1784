import { badRequest, invalid } from '../../apierrors/status.ts'
import { memberText, withMembers, withoutMember } from '../../json/members.ts'
import { isRecord, itemsOf, membersOf } from '../../kubeclient/object/object.ts'
import { type Form, objectBytes, platformForm } from '../../resourcecache/list/list-body.ts'

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
  const spec = memberText(workspace, 'spec') || '{}'
  return withMembers(
    withoutMember(workspace, ['metadata', 'managedFields']),
    new Map([
      ['kind', '"WorkspaceTemplate"'],
      ['apiVersion', JSON.stringify(`tenant.${groupDomain}/${templateVersion}`)],
      ['spec', `{"placement":{},"template":{"metadata":{},"spec":${spec}}}`],
      ['status', undefined],
    ]),
  )
}

/** An object from a caller; kube-apiserver validates the fields that are not parsed here. */
type Sent = Readonly<Record<string, unknown>>

/**
 * Converts a WorkspaceTemplate to a Workspace.
 *
 * @param name from the path; undefined for a new one
 * @throws Status 400 if the body is not a WorkspaceTemplate, 422 for unsupported fields
 */
export function toWorkspace(body: unknown, groupDomain: string, name?: string): Sent {
  const group = `tenant.${groupDomain}`
  if (!isRecord(body)) throw badRequest('the body must be a WorkspaceTemplate as a JSON object')
  const { apiVersion = `${group}/${templateVersion}`, kind = 'WorkspaceTemplate' } = body
  if (kind !== 'WorkspaceTemplate' || apiVersion !== `${group}/${templateVersion}`)
    throw badRequest(`the body must be a WorkspaceTemplate of ${group}/${templateVersion}`)
  const sent = membersOf(body.metadata)
  if (name !== undefined && sent.name !== name)
    throw badRequest(`metadata.name must be the name in the path, ${JSON.stringify(name)}`)
  const { template } = readSpec(body.spec, group)
  const own = membersOf(template?.metadata)
  const merged = (key: string) => ({ ...membersOf(own[key]), ...membersOf(sent[key]) })
  return {
    apiVersion: `${group}/${workspaceVersion}`,
    kind: 'Workspace',
    metadata: { ...sent, labels: merged('labels'), annotations: merged('annotations') },
    spec: template?.spec ?? {},
  }
}

/**
 * Converts a JSON Merge Patch (RFC 7396) of a WorkspaceTemplate to one of a Workspace.
 *
 * @throws Status 400, 422
 */
export function toWorkspaceMergePatch(patch: unknown, groupDomain: string): Sent {
  const group = `tenant.${groupDomain}`
  if (!isRecord(patch)) throw badRequest('the body must be a JSON Merge Patch: an object')
  const { apiVersion: _, kind: __, spec, ...rest } = patch
  if (spec === undefined) return rest
  const { template } = readSpec(spec, group)
  return template?.spec === undefined ? rest : { ...rest, spec: template.spec }
}

/**
 * Converts a JSON Patch (RFC 6902) of a WorkspaceTemplate to one of a Workspace.
 *
 * @throws Status 400 for an unsupported path, 422 for unsupported fields
 */
export function toWorkspaceJsonPatch(patch: unknown, groupDomain: string): readonly Sent[] {
  if (!Array.isArray(patch) || !patch.every(isRecord))
    throw badRequest('the body must be a JSON Patch: a list of operations')
  return patch.map(operation => {
    const { path, value } = operation
    if (path === '/spec' && isRecord(value))
      return { ...operation, value: readSpec(value, `tenant.${groupDomain}`).template?.spec ?? {} }
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
    `invalid path ${JSON.stringify(pointer)}: expected one below /metadata or /spec/template/spec`,
  )
}

type Template = { readonly template: Sent | undefined }

/**
 * @throws Status 422 for placement and overrides that select clusters: there is only one cluster
 */
function readSpec(spec: unknown, group: string): Template {
  const { template, placement, overrides, ...unknown } = membersOf(spec)
  const problems = [
    ...Object.keys(unknown).map(key => `spec.${key}`),
    ...(itemsOf(overrides).length > 0 ? ['spec.overrides'] : []),
    ...(isDelegated(placement) ? ['spec.placement'] : []),
  ]
  if (problems.length > 0)
    throw invalid(
      { group, kind: 'WorkspaceTemplate' },
      problems.map(field => ({
        reason: 'FieldValueForbidden',
        message: 'workspaces exist in this cluster only: only spec.template is supported',
        field,
      })),
    )
  return { template: isRecord(template) ? template : undefined }
}

function isDelegated(placement: unknown): boolean {
  const { clusters, ...unknown } = membersOf(placement)
  const isHere = itemsOf(clusters).every(cluster => membersOf(cluster).name === 'host')
  return !isHere || Object.values(unknown).some(value => Object.keys(membersOf(value)).length > 0)
}
