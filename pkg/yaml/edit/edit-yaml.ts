import { isDeepStrictEqual } from 'node:util'
import { isAlias, isCollection, isMap, isScalar, isSeq, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { indentJson } from '../../json/indent.ts'
import { toEscape, toScalar } from '../write-scalar.ts'
import { isMerge, itemNodes, keyNode, keyText, type Node, readSource, toNode, valueNode } from './source.ts'
import { applyChange, isFields, isList, type Step, type Value, type ValueChange, valueAt } from './value.ts'

/**
 * Edits the first document of a YAML text, and keeps its comments, quotes and order. Each result is
 * parsed and checked. Where aliases or merge keys share a value, writes the smallest part without
 * them, in the end the whole document.
 *
 * @throws Error if the text is not valid YAML, or no result has the expected value
 */
export function editYaml(text: string, changes: readonly ValueChange[]): string {
  return changes.reduce(edit, text)
}

function edit(text: string, { path, value }: ValueChange): string {
  const before = readSource(text).value ?? new Map()
  const expected = applyChange(before, { path, ...(value === undefined ? {} : { value }) }) ?? null
  if (isDeepStrictEqual(expected, before)) return text
  for (let depth = path.length; depth >= 0; depth--) {
    const next = attempt(() => replaced(text, path.slice(0, depth), expected))
    const isExpected =
      next !== undefined &&
      isDeepStrictEqual(
        attempt(() => readSource(next).value),
        expected,
      )
    if (isExpected) return next
  }
  throw new Error('it cannot be edited without changing other content')
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Returns the text with the expected value at a path; undefined if the path has no parent. */
function replaced(text: string, path: readonly Step[], expected: Value): string | undefined {
  const { document, rest } = readSource(text)
  const isJson = attempt(() => JSON.parse(text)) !== undefined
  const value = valueAt(expected, path)
  const node = value === undefined ? undefined : createNode(value, isJson)
  const last = path.at(-1)
  if (last === undefined) document.contents = withComments(node, toNode(document.contents)) ?? null
  else {
    const parent = path.slice(0, -1).reduce(childOf, toNode(document.contents))
    if (!isCollection(parent) || parent.items.length === 0) return undefined
    if (isMap(parent) && typeof last === 'string') setField(parent, last, node, isJson)
    else if (isSeq(parent) && typeof last !== 'string') setItem(parent, last.name, node)
    else return undefined
  }
  const written = document.toString({
    lineWidth: 0,
    doubleQuotedAsJSON: isJson,
    flowCollectionPadding: false,
    indentSeq: /^\S.*:.*\n +- /m.test(text),
  })
  const laidOut = isJson && text.trim().includes('\n') ? `${indentJson(written)}\n` : written
  const escaped = laidOut.replaceAll(onlyEscaped, toEscape) + rest
  return text.includes('\r\n') ? escaped.replaceAll('\n', '\r\n') : escaped
}

function childOf(node: Node | undefined, step: Step): Node | undefined {
  if (isMap(node) && typeof step === 'string') {
    const pair = pairOf(node, step)
    return pair === undefined ? undefined : valueNode(pair)
  }
  return isSeq(node) && typeof step !== 'string' ? itemNodes(node)[itemIndex(node, step.name)] : undefined
}

/** Returns the pair with a key. Of duplicates it returns the last, as go-yaml does. */
function pairOf(map: YAMLMap, key: string) {
  return map.items.findLast(pair => !isMerge(keyNode(pair)) && keyText(keyNode(pair)) === key)
}

function itemIndex(seq: YAMLSeq, name: string): number {
  return itemNodes(seq).findIndex(item => {
    const node = isMap(item) ? childOf(item, 'name') : undefined
    return isScalar(node) && keyText(node) === name
  })
}

function setField(map: YAMLMap, key: string, node: Node | undefined, isJson: boolean): void {
  const pair = pairOf(map, key)
  if (node === undefined) map.items = map.items.filter(each => each !== pair)
  else if (pair === undefined) map.set(createScalar(key, isJson), node)
  else pair.value = withComments(node, valueNode(pair))
}

function setItem(seq: YAMLSeq, name: string, node: Node | undefined): void {
  const at = itemIndex(seq, name)
  if (node === undefined) seq.items.splice(at, 1)
  else if (at < 0) seq.items.push(node)
  else seq.items[at] = withComments(node, itemNodes(seq)[at])
}

function withComments(node: Node | undefined, old: Node | undefined): Node | undefined {
  if (node === undefined || old === undefined || isAlias(node)) return node
  const { comment = null, commentBefore = null, spaceBefore = false } = old
  return Object.assign(node, { comment, commentBefore, spaceBefore })
}

function createNode(value: Value, isJson: boolean): Node {
  if (isList(value)) {
    const seq = new YAMLSeq()
    seq.flow = isJson
    seq.items = value.map(item => createNode(item, isJson))
    return seq
  }
  if (isFields(value)) {
    const map = new YAMLMap()
    map.flow = isJson
    for (const [key, each] of value) map.set(createScalar(key, isJson), createNode(each, isJson))
    return map
  }
  if (typeof value === 'string') return createScalar(value, isJson)
  return new Scalar(typeof value === 'object' && value !== null ? value.source : String(value))
}

function createScalar(text: string, isJson: boolean): Scalar {
  const scalar = new Scalar(text)
  scalar.type = !isJson && toScalar(text) === text ? 'PLAIN' : 'QUOTE_DOUBLE'
  return scalar
}

// Line breaks of YAML 1.1, and characters that go-yaml rejects. In a text that it reads, they can only
// be escaped.
const onlyEscaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Cs}]/gu
