import {
  type Alias,
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseAllDocuments,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { isTrue, resolvePlain } from './go-scalar.ts'
import type { Value } from './value.ts'

export type Node = Alias | Scalar | YAMLMap | YAMLSeq

/** The first document of a YAML text. */
export type Source = {
  readonly document: Document
  /** null if the document is empty. */
  readonly value: Value
  /** The text of further documents, which are preserved but not read, as in Go. */
  readonly rest: string
}

// Limits the nodes that aliases add: nested aliases could otherwise exhaust memory. go-yaml allows
// about as many in a document of 400,000 nodes, with most of them from aliases.
const maxAliasNodes = 400_000
const options = {
  // All scalars stay strings; toValue applies the types of go-yaml.
  schema: 'failsafe',
  version: '1.1',
  uniqueKeys: false,
  strict: false,
  logLevel: 'silent',
} as const

/** Parses the first YAML document of a text as kubectl (go-yaml 2) does. @throws Error */
export function readSource(text: string): Source {
  // Line breaks of YAML 1.1 that the parser does not know.
  const lines = text.replaceAll(/\r(?!\n)|[\u0085\u2028\u2029]/g, '\n')
  const parsed = parseAllDocuments(lines, options)
  const [document] = parsed
  if (document === undefined) {
    // The comment is one of the root node, since a comment of the document is followed by an empty line.
    const root = Object.assign(new Scalar(null), { commentBefore: 'comment' in parsed ? parsed.comment : '' })
    return { document: Object.assign(new Document(null, options), { contents: root }), value: null, rest: '' }
  }
  const [error] = document.errors
  if (error !== undefined) throw new Error(error.message.split('\n', 1)[0]?.replace(/:$/, ''))
  const root = toNode(document.contents)
  const value = root === undefined ? null : new Reader(document).toValue(root)
  return { document, value, rest: lines.slice(document.range[2]) }
}

export function toNode(node: unknown): Node | undefined {
  return isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? node : undefined
}

export function keyNode({ key }: Pair): Node | undefined {
  return toNode(key)
}

export function valueNode({ value }: Pair): Node | undefined {
  return toNode(value)
}

/** Reports whether a key is a merge key (`<<` of YAML 1.1). */
export function isMerge(key: Node | undefined): boolean {
  return (
    isScalar(key) && key.value === '<<' && (key.type === 'PLAIN' || key.tag === 'tag:yaml.org,2002:merge')
  )
}

export function itemNodes(seq: YAMLSeq): readonly (Node | undefined)[] {
  return seq.items.map(toNode)
}

/** Returns a key as the string that kubectl reads; undefined if the key is not a scalar. */
export function keyText(key: Node | undefined): string | undefined {
  if (!isScalar(key)) return undefined
  const value = toScalarValue(key)
  if (typeof value === 'string') return value
  return typeof value === 'boolean' ? String(value) : String(key.value)
}

function toScalarValue(node: Scalar): Value {
  const text = String(node.value ?? '')
  const { tag } = node
  if (tag === 'tag:yaml.org,2002:str') return text
  if (tag !== undefined && tag !== '!') return { source: `${tag} ${JSON.stringify(text)}` }
  if (node.type !== 'PLAIN' || tag === '!') return text
  const kind = resolvePlain(text)
  if (kind === 'string') return text
  if (kind === 'null') return null
  return kind === 'bool' ? isTrue(text) : { source: text }
}

class Reader {
  readonly #targets: ReadonlyMap<Alias, Node>
  /** The targets of aliases that are being read. */
  readonly #open = new Set<Node>()
  #left = maxAliasNodes

  constructor(document: Document) {
    this.#targets = findTargets(document)
  }

  toValue(node: Node | undefined, isInAlias = false): Value {
    if (isInAlias && this.#left-- <= 0) throw new Error('too many aliases')
    if (node === undefined) return null
    if (isAlias(node)) return this.#expand(node)
    if (isScalar(node)) return toScalarValue(node)
    if (isSeq(node)) return itemNodes(node).map(item => this.toValue(item, isInAlias))
    const members = new Map<string, Value>()
    for (const pair of node.items) {
      const key = keyNode(pair)
      if (isMerge(key)) this.#merge(this.toValue(valueNode(pair), isInAlias), members)
      else members.set(this.#toKey(key), this.toValue(valueNode(pair), isInAlias))
    }
    return members
  }

  #expand(alias: Alias): Value {
    const target = this.#resolve(alias)
    if (this.#open.has(target)) throw new Error(`anchor ${JSON.stringify(alias.source)} contains itself`)
    this.#open.add(target)
    const value = this.toValue(target, true)
    this.#open.delete(target)
    return value
  }

  #resolve(alias: Alias): Node {
    const target = this.#targets.get(alias)
    if (target === undefined) throw new Error(`unknown anchor ${JSON.stringify(alias.source)}`)
    return target
  }

  #toKey(key: Node | undefined): string {
    const text = keyText(isAlias(key) ? this.#resolve(key) : key)
    if (text === undefined) throw new Error('a key is not a string')
    return text
  }

  /** Merges like go-yaml 2, in file order. In a list of mappings, the first takes precedence. */
  #merge(value: Value, into: Map<string, Value>): void {
    const maps = Array.isArray(value) ? value.toReversed() : [value]
    for (const map of maps) {
      if (!(map instanceof Map)) throw new Error('a merge key requires a mapping')
      for (const [key, each] of map) into.set(key, each)
    }
  }
}

/** Returns the targets of all aliases, found in one pass: an anchor can be defined again. */
function findTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node(_key, visited) {
      const node = toNode(visited)
      if (isAlias(node)) {
        const target = anchors.get(node.source)
        if (target !== undefined) targets.set(node, target)
      } else if (node?.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}
