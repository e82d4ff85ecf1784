import { orUndefined } from '../../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import {
  fieldsOf,
  isRecord,
  type KubeObject,
  parseObject,
  textOf,
} from '../../../pkg/kubeclient/object/object.ts'

/**
 * Returns the items of a list, read in pages; none if the resource does not exist.
 *
 * @param onInvalid called with the name of each invalid item, which is omitted
 */
export async function list(
  client: KubeClient,
  path: string,
  onInvalid: (name: string) => void,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = []
  let next = ''
  do {
    const query = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    const page = await orUndefined(client.call({ path: `${path}?limit=500${query}` }), 404)
    if (page === undefined) return found
    if (!isRecord(page) || !Array.isArray(page.items)) throw new Error(`${path} is not a list`)
    found.push(...page.items.flatMap(item => parse(item, onInvalid)))
    next = textOf(fieldsOf(page.metadata).continue)
  } while (next !== '')
  return found
}

function parse(item: unknown, onInvalid: (name: string) => void): readonly KubeObject[] {
  try {
    return [parseObject(item)]
  } catch {
    onInvalid(textOf(fieldsOf(fieldsOf(item).metadata).name) || '(without a name)')
    return []
  }
}
