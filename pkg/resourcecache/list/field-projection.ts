import { badRequest } from '../../apierrors/status.ts'
import { parseJsonPath } from '../../apirequest/query/json-path.ts'
import { project, type Tree } from '../store/projection.ts'
import { type Form, objectBytes, platformForm } from './list-body.ts'

const maxFields = 64

/** Splits at commas that are outside of brackets (`metadata.labels['a,b']`). */
function splitPaths(text: string): readonly string[] {
  const paths: string[] = []
  let start = 0
  // End of the current bracket. Nothing is searched after the last closing bracket.
  let end = 0
  const last = text.lastIndexOf(']')
  for (let at = 0; at <= text.length; at++) {
    const char = text[at]
    if (char === '[' && at >= end && at < last) end = text.indexOf(']', at)
    if (char !== undefined && (char !== ',' || at < end)) continue
    if (at > start) paths.push(text.slice(start, at))
    start = at + 1
  }
  return paths
}

/**
 * Creates the projection for `fields=metadata.name,status.phase`: objects with only these fields. A
 * path applies to all items of lists; `[0]` keeps one item. Missing fields are omitted.
 *
 * @param form the form of whole objects
 * @throws Status 400
 */
export function createFieldsForm(text: string, form: Form = platformForm): Form {
  const paths = splitPaths(text)
  if (paths.length > maxFields)
    throw badRequest(`fields has ${paths.length} paths; at most ${maxFields} are allowed`)
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
    name: `fields of ${form.name} ${JSON.stringify(paths)}`,
    isComputed: true,
    toParts: entry => [Buffer.from(project(objectBytes(entry, form).toString('utf8'), tree) ?? '{}')],
  }
}
