import { eachChild, skipBlank, skipValue } from '../../json/scan.ts'

/** A tree of fields to keep; an empty tree keeps all fields below. */
export type Tree = Map<string | number, Tree>

/**
 * Returns the JSON text of a value with only some of its fields; undefined if none remain. Field
 * names apply to all items of lists; a number keeps one item. The text is scanned once.
 */
export function project(json: string, tree: Tree): string | undefined {
  return scan(json, skipBlank(json, 0), tree).kept
}

/** @returns the position after the value at `at`, and the kept part */
function scan(json: string, at: number, tree: Tree): { end: number; kept: string | undefined } {
  if (tree.size === 0) {
    const end = skipValue(json, at)
    return { end, kept: json.slice(at, end) }
  }
  const every = tree.get('*')
  const names = namesIn(tree)
  const branchOf = (step: string | number) =>
    typeof step === 'string' ? (tree.get(step) ?? every) : (every ?? tree.get(step) ?? names)
  const parts: string[] = []
  const end = eachChild(json, at, ({ step, start, valueStart }) => {
    const branch = branchOf(step)
    if (branch === undefined) return skipValue(json, valueStart)
    const inner = scan(json, valueStart, branch)
    if (inner.kept !== undefined) parts.push(json.slice(start, valueStart) + inner.kept)
    return inner.end
  })
  if (parts.length === 0) return { end, kept: undefined }
  return { end, kept: json[at] === '{' ? `{${parts.join(',')}}` : `[${parts.join(',')}]` }
}

/** Returns the tree for the items of a list. */
function namesIn(tree: Tree): Tree | undefined {
  const names = new Map([...tree].filter(([step]) => typeof step === 'string' && step !== '*'))
  return names.size > 0 ? names : undefined
}
