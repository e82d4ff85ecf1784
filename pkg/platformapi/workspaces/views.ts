import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { isPlatformPrefix, parseRequestInfo, type RequestInfo } from '../../apirequest/request-info.ts'
import { routeOf } from '../../openapi/route.ts'

/** A read of the tenant group, as the read of `resources` that authorizes and serves it. */
export type View = {
  readonly info: RequestInfo
  /** The workspace whose namespaces are listed; '' for any. */
  readonly workspace: string
  /** The user whose namespaces are listed; '' for the caller. */
  readonly member: string
  /** Whether workspaces are shown as WorkspaceTemplates. */
  readonly isTemplate: boolean
}

type Target = {
  readonly plural: 'namespaces' | 'workspaces'
  readonly name?: string | undefined
  readonly workspace?: string | undefined
  readonly member?: string | undefined
  readonly isTemplate?: true
}

type Targets = Readonly<Record<string, (parts: readonly string[]) => Target>>

/** Views by version and path; a `workspace` of v1alpha2 is a WorkspaceTemplate. */
const targets = {
  v1alpha2: {
    '/workspaces': () => ({ plural: 'workspaces', isTemplate: true }),
    '/workspaces/{workspace}': ([, name]) => ({ plural: 'workspaces', name, isTemplate: true }),
    '/namespaces': () => ({ plural: 'namespaces' }),
    '/workspaces/{workspace}/namespaces': ([, workspace]) => ({ plural: 'namespaces', workspace }),
    '/workspaces/{workspace}/namespaces/{namespace}': ([, workspace, , name]) => ({
      plural: 'namespaces',
      name,
      workspace,
    }),
    '/workspaces/{workspace}/workspacemembers/{workspacemember}/namespaces': ([, workspace, , member]) => ({
      plural: 'namespaces',
      workspace,
      member,
    }),
  },
  v1alpha3: {
    '/workspacetemplates': () => ({ plural: 'workspaces', isTemplate: true }),
    '/workspacetemplates/{workspace}': ([, name]) => ({ plural: 'workspaces', name, isTemplate: true }),
    '/workspaces': () => ({ plural: 'workspaces' }),
    '/workspaces/{workspace}': ([, name]) => ({ plural: 'workspaces', name }),
  },
} satisfies Readonly<Record<string, Targets>>

export type ViewPath<V extends keyof typeof targets> = keyof (typeof targets)[V]

/** Returns the view for a path of the tenant API; undefined for any other path. */
export function viewOf(groupDomain: string, { req, info, query }: AuthenticatedExchange): View | undefined {
  if (!isOfTenant(groupDomain, info)) return undefined
  const inVersion: Targets = targets[info.version]
  const target = routeOf(inVersion, info.parts)?.(info.parts)
  if (target === undefined) return undefined
  const { plural, name, workspace = '', member = '', isTemplate = false } = target
  const path = `/${info.prefix}/resources.${groupDomain}/v1alpha3/${plural}`
  return {
    info: parseRequestInfo(req.method ?? 'GET', name === undefined ? path : `${path}/${name}`, query),
    workspace,
    member,
    isTemplate,
  }
}

type TenantInfo = RequestInfo & { readonly version: keyof typeof targets }

function isOfTenant(groupDomain: string, info: RequestInfo): info is TenantInfo {
  const { prefix, group, version } = info
  return isPlatformPrefix(prefix) && group === `tenant.${groupDomain}` && Object.hasOwn(targets, version)
}
