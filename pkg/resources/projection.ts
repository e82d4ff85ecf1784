import { itemTexts, membersIn } from '../json/members.ts'

/** Which members are kept: those named, and below each what its own tree says; a tree without branches keeps everything. */
export type Tree = Map<string | number, Tree>

/**
 * A value with some of its members, as source text; undefined when none is left. Names go through lists to the members of their
 * items, a number keeps one item.
 */
export function project(json: string, tree: Tree): string | undefined {
  if (tree.size === 0) return json
  return json.startsWith('[') ? projectItems(json, tree) : projectMembers(json, tree)
}

function projectMembers(json: string, tree: Tree): string | undefined {
  const kept: string[] = []
  for (const { name, start, valueStart, end } of membersIn(json)) {
    const below = tree.get(name) ?? tree.get('*')
    const part = below && project(json.slice(valueStart, end), below)
    if (part !== undefined) kept.push(json.slice(start, valueStart) + part)
  }
  return kept.length === 0 ? undefined : `{${kept.join(',')}}`
}

function projectItems(json: string, tree: Tree): string | undefined {
  const every = tree.get('*')
  const names = new Map([...tree].filter(([step]) => typeof step === 'string' && step !== '*'))
  const kept = itemTexts(json).flatMap((item, i) => {
    const below = every ?? tree.get(i) ?? (names.size > 0 ? names : undefined)
    return (below && project(item, below)) ?? []
  })
  return kept.length === 0 ? undefined : `[${kept.join(',')}]`
}
