import { parseJsonPath } from '../request/json-path.ts'
import { badRequest } from '../status/status.ts'
import type { Form } from './body.ts'
import { project, type Tree } from './projection.ts'

const maxFields = 64

/**
 * The form of `fields=metadata.name,status.phase`: objects with these members alone. A path goes through lists to the
 * members of their items; `[0]` keeps one item. What an object does not have is left out.
 *
 * @throws Status 400
 */
export function createFieldsForm(text: string): Form {
  const paths = text.match(/(?:\[[^\]]*\]|[^,])+/g) ?? []
  if (paths.length > maxFields)
    throw badRequest(`fields names ${paths.length} paths; at most ${maxFields} are allowed`)
  const tree: Tree = new Map()
  for (const path of paths) {
    let at = tree
    for (const step of parseJsonPath(path.trim(), 'fields')) {
      const next = at.get(step) ?? new Map()
      at.set(step, next)
      at = next
    }
  }
  return {
    name: `fields ${JSON.stringify(paths)}`,
    isComputed: true,
    toParts: entry => [Buffer.from(project(`${entry.platformHead()}${entry.tail}`, tree) ?? '{}')],
  }
}
