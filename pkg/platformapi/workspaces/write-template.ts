import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { fieldsOf, parseObject } from '../../kubeclient/object/object.ts'
import { type KubeResponse, withQueryOf } from '../write/as-caller.ts'
import { readDeleteOptions, toDeleteBody } from '../write/delete-options.ts'
import { isDryRun } from '../write/dry-run.ts'
import { readJson, readPatch } from '../write/json-body.ts'
import type { WorkspaceTools } from './dependencies.ts'
import {
  toTemplateText,
  toWorkspace,
  toWorkspaceJsonPatch,
  toWorkspaceMergePatch,
  workspacesPath,
} from './template-conversion.ts'

type Tools = Pick<WorkspaceTools, 'groupDomain' | 'callAs' | 'addManager'>

const jsonPatch = 'application/json-patch+json'
const whichRemain =
  'namespaces with an ownerReference to the workspace are deleted with it, unless propagationPolicy is Orphan; others remain'

/**
 * Writes the Workspace of a WorkspaceTemplate, as the caller.
 *
 * @param name '' for a new one
 * @returns the WorkspaceTemplate; undefined after a delete
 * @throws Status 400, 413, 415, 422, and those of kube-apiserver
 */
export async function writeTemplate(
  { groupDomain, callAs, addManager }: Tools,
  exchange: AuthenticatedExchange,
  name: string,
): Promise<KubeResponse | undefined> {
  const { req, res } = exchange
  const all = workspacesPath(groupDomain)
  const one = withQueryOf(exchange, `${all}/${encodeURIComponent(name)}`)
  const shown = ({ code, text }: KubeResponse) => ({ code, text: toTemplateText(text, groupDomain) })
  switch (req.method) {
    case 'POST': {
      const body = toWorkspace(await readJson(req, ['application/json']), groupDomain)
      const made = await callAs(exchange, { method: 'POST', path: withQueryOf(exchange, all), body })
      // The object of a dry run has no version.
      if (isDryRun(exchange)) return shown(made)
      const { metadata, spec } = parseObject(JSON.parse(made.text))
      const { manager } = fieldsOf(spec)
      if (typeof manager === 'string' && manager !== '')
        await addManager(exchange, { workspace: metadata.name, manager })
      return shown(made)
    }
    case 'PUT': {
      const body = toWorkspace(await readJson(req, ['application/json']), groupDomain, name)
      return shown(await callAs(exchange, { method: 'PUT', path: one, body }))
    }
    case 'PATCH': {
      const { patch, contentType } = await readPatch(req)
      const convert = contentType === jsonPatch ? toWorkspaceJsonPatch : toWorkspaceMergePatch
      const body = convert(patch, { groupDomain, name })
      return shown(await callAs(exchange, { method: 'PATCH', path: one, body, contentType }))
    }
    default: {
      await callAs(exchange, {
        method: 'DELETE',
        path: one,
        ...toDeleteBody(exchange, await readDeleteOptions(req)),
      })
      // The garbage collector deletes namespaces that KubeSphere has created, since they name the
      // workspace as their owner. Kapis sets no owner.
      addWarning(res, whichRemain)
      return undefined
    }
  }
}
