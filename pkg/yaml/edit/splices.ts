import { isMap, isPair, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import { toField, toFlow, toInline, toItem, toLines } from './render.ts'
import { isMerge, itemNodes, keyNode, keyText, type Node, type Source, toNode, valueNode } from './source.ts'
import type { Step, Value } from './value.ts'

/** A replacement of the text from `start` to `end`. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string }

/** Returns the child at a step; undefined if it comes from an alias or merge key. */
export function explicitChild(node: Node, step: Step): Node | undefined {
  if (isMap(node) && typeof step === 'string') {
    const pair = pairOf(node, step)
    return pair === undefined ? undefined : valueNode(pair)
  }
  if (isSeq(node) && typeof step !== 'string') return itemNodes(node)[itemIndex(node, step.name)]
  return undefined
}

/** Yields ways to set the child at a step, best first; no value removes it. */
export function* splicesOf(
  source: Source,
  node: Node,
  step: Step,
  value: Value | undefined,
): Iterable<Splice> {
  if (isMap(node) && typeof step === 'string') {
    const pair = pairOf(node, step)
    if (value === undefined) {
      if (pair !== undefined) yield* removal(source, node, node.items.indexOf(pair))
    } else if (pair === undefined) yield* insertion(source, node, { key: step, value })
    else yield* replacement(source, node, pair, value)
  }
  if (isSeq(node) && typeof step !== 'string') {
    const at = itemIndex(node, step.name)
    if (value === undefined) yield* removal(source, node, at)
    else if (at < 0) yield* insertion(source, node, { value })
    else {
      const item = itemNodes(node)[at]
      if (item !== undefined)
        yield {
          start: nodeStart(item),
          end: lastOnLine(source.text, contentEnd(item)),
          text: itemText(source, node, value),
        }
    }
  }
}

/** Returns the pair with a key. Of duplicates it returns the last, as go-yaml does. */
function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.findLast(pair => !isMerge(keyNode(pair)) && keyText(keyNode(pair)) === key)
}

function itemIndex(seq: YAMLSeq, name: string): number {
  return itemNodes(seq).findIndex(item => isMap(item) && itemName(item) === name)
}

function itemName(item: YAMLMap): string {
  const pair = pairOf(item, 'name')
  const node = pair === undefined ? undefined : valueNode(pair)
  return isScalar(node) ? (keyText(node) ?? '') : ''
}

function* replacement({ text, eol }: Source, map: YAMLMap, pair: Pair, value: Value): Iterable<Splice> {
  const colon = colonEnd(pair)
  if (colon === undefined) return
  const node = valueNode(pair)
  const end = node === undefined || isEmpty(node) ? colon : lastOnLine(text, contentEnd(node))
  if (map.flow) return yield { start: colon, end, text: ` ${toFlow(value)}` }
  // Replaces only the scalar, so that a comment between colon and value is kept.
  if (isScalar(node) && !isEmpty(node) && toLines(value) === undefined)
    yield { start: nodeStart(node), end, text: toInline(value) }
  const [first = '', ...lines] = toField('x', value, ' '.repeat(column(text, pairStart(pair))))
  const behind = first.slice(first.indexOf('x:') + 2)
  yield { start: colon, end, text: [behind, ...lines].join(eol) }
}

type Added = { readonly key?: string; readonly value: Value }

/** Yields an insertion at the end, as kubectl does, then one at the beginning. */
function* insertion(source: Source, node: YAMLMap | YAMLSeq, added: Added): Iterable<Splice> {
  const { text, eol } = source
  const starts = partStarts(node)
  const [first] = starts
  const last = node.items.at(-1)
  if (node.flow || first === undefined || last === undefined) return yield* flowInsertion(source, node, added)
  const indent = ' '.repeat(column(text, first))
  const lines =
    added.key === undefined ? toItem(added.value, indent) : toField(added.key, added.value, indent)
  const end = partEnd(last)
  // The end of a block scalar is after its last line break, at the start of a line.
  const isLineStart = text[end - 1] === '\n'
  const at = isLineStart ? end : lineEnd(text, end)
  const block = lines.join(eol)
  yield { start: at, end: at, text: isLineStart ? `${block}${eol}` : `${eol}${block}` }
  yield { start: first, end: first, text: `${block.slice(indent.length)}${eol}${indent}` }
}

function* flowInsertion({ text, eol }: Source, node: YAMLMap | YAMLSeq, added: Added): Iterable<Splice> {
  if (!node.flow || !node.range) return
  const inner = added.key === undefined ? toFlow(added.value) : `${toFlow(added.key)}: ${toFlow(added.value)}`
  const last = node.items.at(-1)
  const lastStart = partStarts(node).at(-1)
  if (last === undefined || lastStart === undefined) {
    const at = node.range[0] + 1
    return yield { start: at, end: at, text: inner }
  }
  const at = partEnd(last)
  const before = text.slice(text.lastIndexOf('\n', lastStart - 1) + 1, lastStart)
  const gap = before.trim() === '' ? `${eol}${before}` : ' '
  const comma = /^[ \t]*,/.exec(text.slice(at))?.[0].length ?? 0
  if (comma > 0) yield { start: at + comma, end: at + comma, text: `${gap}${inner}` }
  yield { start: at, end: at, text: `,${gap}${inner}` }
}

function* removal({ text }: Source, node: YAMLMap | YAMLSeq, at: number): Iterable<Splice> {
  const starts = partStarts(node)
  const [start, next, part] = [starts[at], starts[at + 1], node.items[at]]
  if (start === undefined || part === undefined) return
  const end = partEnd(part)
  if (node.flow) {
    const before = text.slice(0, start).trimEnd()
    if (next !== undefined) yield { start, end: next, text: '' }
    if (before.endsWith(',')) yield { start: before.length - 1, end, text: '' }
    return yield { start, end, text: '' }
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const isOwnLine = text.slice(lineStart, start).trim() === ''
  const lineBreak = text.indexOf('\n', end)
  const after = text[end - 1] === '\n' ? end : lineBreak < 0 ? text.length : lineBreak + 1
  if (isOwnLine) yield { start: lineStart, end: after, text: '' }
  if (next !== undefined) yield { start, end: next, text: '' }
}

function itemText({ text, eol }: Source, seq: YAMLSeq, value: Value): string {
  const [first] = partStarts(seq)
  if (seq.flow || first === undefined) return toFlow(value)
  const indent = ' '.repeat(column(text, first))
  return toItem(value, indent)
    .join(eol)
    .slice(indent.length + 2)
}

/** Returns the offset of each pair, or of the `-` of each item. */
function partStarts(node: YAMLMap | YAMLSeq): readonly number[] {
  if (isMap(node)) return node.items.map(pairStart)
  const token = node.srcToken
  if (token?.type !== 'block-seq') return itemNodes(node).map(item => (item ? nodeStart(item) : 0))
  const starts = token.items.map(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset)
  return starts.filter(offset => offset !== undefined)
}

function pairStart(pair: Pair): number {
  const token = pair.srcToken
  const skipped = new Set(['space', 'newline', 'comment', 'comma'])
  const first = token?.start.find(({ type }) => !skipped.has(type))
  return first?.offset ?? token?.key?.offset ?? keyNode(pair)?.range?.[0] ?? 0
}

function colonEnd({ srcToken }: Pair): number | undefined {
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')
  return colon === undefined ? undefined : colon.offset + 1
}

/** Reports whether a value is missing. Its position may be after a comment. */
function isEmpty({ range }: Node): boolean {
  return range === undefined || range === null || range[0] === range[1]
}

function nodeStart(node: Node): number {
  return node.range?.[0] ?? 0
}

function partEnd(part: unknown): number {
  if (!isPair(part)) return contentEnd(toNode(part))
  return Math.max(colonEnd(part) ?? contentEnd(keyNode(part)), contentEnd(valueNode(part)))
}

/** Returns the end of a node, without the comments and spaces after it. */
function contentEnd(node: Node | undefined): number {
  if (node === undefined) return 0
  const last = (isMap(node) || isSeq(node)) && !node.flow ? node.items.at(-1) : undefined
  return last === undefined ? (node.range?.[1] ?? 0) : partEnd(last)
}

/** Returns `end`, or the position before the line break that ends a block scalar. */
function lastOnLine(text: string, end: number): number {
  return end - (/\r?\n$/.exec(text.slice(end - 2, end))?.[0].length ?? 0)
}

function column(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function lineEnd(text: string, from: number): number {
  const found = /\r?\n/.exec(text.slice(from))
  return found === null ? text.length : from + found.index
}
