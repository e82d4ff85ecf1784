import { methodNotAllowed, notFound } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { sendJson, sendJsonText } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { joinRestrictions } from '../../resourcecache/list/list-predicate.ts'
import type { KubeResponse } from '../write/as-caller.ts'
import { createNamespace } from './create-namespace.ts'
import type { WorkspaceTools } from './dependencies.ts'
import { createTemplateForm } from './template-conversion.ts'
import type { View } from './views.ts'
import { isInWorkspace, writeNamespace } from './write-namespace.ts'
import { writeTemplate } from './write-template.ts'

export type ServeView = (exchange: AuthenticatedExchange, view: View) => Promise<void>

/**
 * Serves the tenant API for consoles of KubeSphere 3.4: workspaces, also as WorkspaceTemplates, and
 * their namespaces. Reads return what the caller may see under `resources.<group domain>/v1alpha3`;
 * writes are sent to kube-apiserver as the caller, except new namespaces of callers who may only
 * create them in the workspace.
 */
export function createWorkspaceViews(tools: WorkspaceTools): ServeView {
  const { groupDomain } = tools
  const templateForm = createTemplateForm(groupDomain)

  async function read(exchange: AuthenticatedExchange, view: View): Promise<void> {
    const { workspace, member, isTemplate, info } = view
    const narrowings = [
      workspace === '' ? undefined : isInWorkspace(groupDomain, workspace),
      member === '' ? undefined : await tools.visibleTo({ ...exchange, info }, member),
    ].filter(each => each !== undefined)
    const only = narrowings.length === 0 ? undefined : joinRestrictions(narrowings)
    if (isTemplate && exchange.query.get('managedFields') !== null)
      addWarning(exchange.res, 'ignored managedFields: a WorkspaceTemplate is a view of a Workspace')
    await tools.read({ ...exchange, info }, { only, ...(isTemplate && { form: templateForm }) })
  }

  function write(exchange: AuthenticatedExchange, view: View): Promise<KubeResponse | undefined> {
    const { name } = view.info
    if (view.isTemplate) return writeTemplate(tools, exchange, name)
    return name === ''
      ? createNamespace(tools, exchange, view.workspace)
      : writeKnownNamespace(tools, exchange, view)
  }

  return async (exchange, view) => {
    const { req, res } = exchange
    const { method = '' } = req
    if (method === 'GET' || method === 'HEAD') return read(exchange, view)
    const allowed = writesAt(view)
    if (!allowed.includes(method)) throw methodNotAllowed(['GET', 'HEAD', ...allowed])
    const written = await write(exchange, view)
    if (written === undefined) sendJson(res, 200, { message: 'success' })
    else sendJsonText(res, written.code, written.text)
  }
}

function writesAt({ info, workspace, member, isTemplate }: View): readonly string[] {
  if (member !== '' || (!isTemplate && workspace === '')) return []
  return info.name === '' ? ['POST'] : ['PUT', 'PATCH', 'DELETE']
}

/** @throws Status 404 for a namespace that is not visible, or in another workspace */
async function writeKnownNamespace(
  tools: WorkspaceTools,
  exchange: AuthenticatedExchange,
  { info, workspace }: View,
): Promise<KubeResponse | undefined> {
  const { name } = info
  const read = { ...exchange, info: { ...info, verb: 'get' } }
  if (!(await tools.isVisible(read, isInWorkspace(tools.groupDomain, workspace))))
    throw notFound({ group: '', resource: 'namespaces' }, name)
  return writeNamespace(tools, exchange, { name, workspace })
}
