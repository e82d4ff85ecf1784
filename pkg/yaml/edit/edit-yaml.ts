import { isDeepStrictEqual } from 'node:util'
import { isAlias, isCollection } from 'yaml'
import { toFlow, toLines } from './render.ts'
import { type Node, readSource, type Source } from './source.ts'
import { explicitChild, type Splice, splicesOf } from './splices.ts'
import { type Change, changed, isFields, type Value, valueAt } from './value.ts'

/**
 * Edits the first document of a YAML text. Replaces only parts of the text, so everything else
 * keeps its bytes, including comments; each result is parsed and checked. If no part can be
 * replaced, for example because of a shared alias, rewrites the whole document without comments.
 *
 * @throws Error if the text is not valid YAML, or no result has the expected value
 */
export function editYaml(text: string, changes: readonly Change[]): string {
  return changes.reduce(edit, readSource(text)).text
}

function edit(source: Source, change: Change): Source {
  const { text, value } = source
  const before = value ?? new Map()
  const expected = changed(before, change) ?? null
  if (isDeepStrictEqual(expected, before)) return source
  for (const { start, end, text: inserted } of candidates(source, change, expected)) {
    const next = readIfYaml(text.slice(0, start) + inserted + text.slice(end))
    if (next !== undefined && isDeepStrictEqual(next.value, expected)) return next
  }
  throw new Error('it cannot be edited without changing other content')
}

function readIfYaml(text: string): Source | undefined {
  try {
    return readSource(text)
  } catch {
    return undefined
  }
}

/** Yields possible replacements, from the smallest to the whole document. */
function* candidates(source: Source, { path }: Change, expected: Value): Iterable<Splice> {
  const nodes = explicitNodes(source, path)
  for (let depth = nodes.length - 1; depth >= 0; depth--) {
    const node = nodes[depth]
    const step = path[depth]
    if (node !== undefined && step !== undefined)
      yield* splicesOf(source, node, step, valueAt(expected, path.slice(0, depth + 1)))
  }
  yield* wholeDocument(source, expected)
}

/** Returns the existing nodes along a path, the last of which is changed. */
function explicitNodes(source: Source, path: Change['path']): readonly Node[] {
  const nodes: Node[] = []
  let node = source.root
  for (const step of path) {
    if (node === undefined || isAlias(node)) break
    // An empty `[]` or `{}` is replaced as a whole, with the style of the document.
    if (nodes.length > 0 && isCollection(node) && node.items.length === 0) break
    nodes.push(node)
    node = explicitChild(node, step)
  }
  return nodes
}

function* wholeDocument(source: Source, expected: Value): Iterable<Splice> {
  const { text, root, end, eol } = source
  const isFlow = root !== undefined && text.slice(0, root.range?.[0]).trim() === '' && /^\s*\{/.test(text)
  const lines = isFlow || !isFields(expected) ? undefined : toLines(expected)
  const content = lines === undefined ? toFlow(expected) : lines.join(eol)
  const start = root?.range?.[0] ?? end
  const isLineStart = start === 0 || text[start - 1] === '\n'
  const before = isLineStart || isFlow ? '' : eol
  if (root === undefined || end === start) yield { start, end: start, text: `${before}${content}${eol}` }
  else yield { start, end, text: `${before}${content}${text.slice(start, end).endsWith('\n') ? eol : ''}` }
}
