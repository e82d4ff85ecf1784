import { isRecord } from '../kube/object.ts'
import { parseJsonPath } from '../request/json-path.ts'
import { badRequest } from '../status/status.ts'
import type { Form } from './body.ts'
import type { Entry } from './entry.ts'

type Tree = Map<string | number, Tree>

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
    for (const step of parseJsonPath(path.trim(), 'fields').steps) {
      const next = at.get(step) ?? new Map()
      at.set(step, next)
      at = next
    }
  }
  const made = new WeakMap<Entry, Buffer>()
  return {
    name: `fields ${JSON.stringify(paths)}`,
    toHead(entry) {
      const found = made.get(entry)
      if (found !== undefined) return found
      const object: unknown = JSON.parse(`${entry.platformHead()}${entry.tail}`)
      const head = Buffer.from(JSON.stringify(keep(object, tree) ?? {}))
      made.set(entry, head)
      return head
    },
    toTail: () => empty,
  }
}

const empty = Buffer.alloc(0)

function keep(value: unknown, tree: Tree): unknown {
  if (tree.size === 0) return value
  if (Array.isArray(value)) return keepItems(value, tree)
  if (!isRecord(value)) return undefined
  const kept: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    const below = tree.get(name) ?? tree.get('*')
    const part = below && keep(member, below)
    if (part !== undefined) kept.push([name, part])
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function keepItems(items: readonly unknown[], tree: Tree): unknown {
  const every = tree.get('*')
  const names = new Map([...tree].filter(([step]) => typeof step === 'string' && step !== '*'))
  const kept = items.flatMap((item, i) => {
    const below = every ?? tree.get(i) ?? (names.size > 0 ? names : undefined)
    const part = below && keep(item, below)
    return part === undefined ? [] : [part]
  })
  return kept.length === 0 ? undefined : kept
}
