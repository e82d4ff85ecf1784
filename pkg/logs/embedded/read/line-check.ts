import { type Fields, fieldValues, parseFields, pickFields } from '../../field-values.ts'
import type { Expression, Test } from '../../filter/expression.ts'
import { createTest } from '../../filter/matcher.ts'
import { fold } from '../../filter/words.ts'
import { isOriginField } from '../../record.ts'
import { hasBit } from '../partition/bitmap.ts'
import type { Block, Columns } from '../partition/block.ts'
import type { LineRange, PartitionReader } from '../partition/partition-reader.ts'
import { nothing, planIndex, requiredBy, streamsPassing } from './index-plan.ts'

/** A block whose lines are checked. Its texts and fields are loaded on demand. */
export type OpenBlock = {
  readonly block: Block
  readonly columns: Columns
  readonly text: () => string
  /** The text in folded case (see `fold`), with the same positions. */
  readonly foldedText: () => string
  /** Fields of all lines as concatenated JSON. `foldedFields` has them in folded case. */
  readonly fields: () => string
  readonly foldedFields: () => string
}

/** Reports whether the line at a place in the block matches; call in ascending order. */
export type LineCheck = (block: OpenBlock, index: number) => boolean

/** Opens a block. @param isKept whether to cache its texts */
export function openBlock(partition: PartitionReader, block: Block, isKept = false): OpenBlock {
  const text = once(() => partition.text(block, isKept))
  const fields = once(() => partition.fields(block))
  return {
    ...{ block, text, fields },
    columns: partition.columns(block),
    foldedText: once(() => fold(text())),
    foldedFields: once(() => fold(fields())),
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export function lineText({ columns: { ends }, text }: OpenBlock, index: number): string {
  return text().slice(ends[index - 1] ?? 0, ends[index])
}

/** Returns the fields of a line, only those with the given names if there are any. */
export function lineFields(
  { columns: { fieldEnds }, fields }: OpenBlock,
  index: number,
  names?: readonly string[],
): Fields | undefined {
  if (fieldEnds === undefined) return undefined
  const json = fields().slice(fieldEnds[index - 1] ?? 0, fieldEnds[index])
  if (json === '') return undefined
  return names === undefined ? parseFields(json) : pickFields(json, names)
}

/** Creates the check of an expression for a range, with the full-text index if possible. */
export function createLineCheck(
  partition: PartitionReader,
  range: LineRange,
  expression: Expression,
): LineCheck {
  const { query, rest } = planIndex(expression, partition.streams)
  if (rest === undefined) {
    if (query === undefined || query === nothing) return () => query === undefined
    const found = partition.find(query, range)
    return ({ block }, index) => hasBit(found, block.first - range.from + index)
  }
  if (expression.op === 'match') {
    const { field, test } = expression
    if (field === 'log') return createTextCheck(partition, range, test)
    if (!isOriginField(field)) return createFieldCheck(field.field, test)
    const passing = streamsPassing(partition.streams, field, test)
    return ({ columns }, index) => passing[columns.streams[index] ?? 0] === true
  }
  if (expression.op === 'not') {
    const check = createLineCheck(partition, range, expression.operand)
    return (block, index) => !check(block, index)
  }
  const checks = expression.operands.map(operand => createLineCheck(partition, range, operand))
  return expression.op === 'and'
    ? (block, index) => checks.every(check => check(block, index))
    : (block, index) => checks.some(check => check(block, index))
}

function createTextCheck(partition: PartitionReader, range: LineRange, test: Test): LineCheck {
  if (test.kind === 'contains') return createPartCheck(test, 'text')
  const passes = createTest(test)
  const check: LineCheck = (block, index) => passes(lineText(block, index))
  const required = test.kind === 'regex' || test.kind === 'wildcard' ? requiredBy(test) : undefined
  if (required === undefined) return check
  // Searching a required literal is much faster than the full test.
  const mayPass = createLineCheck(partition, range, required)
  return (block, index) => mayPass(block, index) && check(block, index)
}

function createFieldCheck(name: string, test: Test): LineCheck {
  const passes = createTest(test)
  const check: LineCheck = (block, index) => fieldValues(lineFields(block, index, [name]), name).some(passes)
  if (test.kind !== 'contains' || !test.text.isWellFormed()) return check
  // Searching the JSON text first avoids parsing most lines.
  const mayPass = createPartCheck({ ...test, text: JSON.stringify(test.text).slice(1, -1) }, 'fields')
  return (block, index) => mayPass(block, index) && check(block, index)
}

/** Creates a substring search over whole blocks: lines before the next match need no search. */
function createPartCheck(
  { text, caseSensitive }: Extract<Test, { readonly kind: 'contains' }>,
  column: 'text' | 'fields',
): LineCheck {
  const term = caseSensitive ? text : fold(text)
  const search =
    column === 'text'
      ? (block: OpenBlock) => (caseSensitive ? block.text() : block.foldedText())
      : (block: OpenBlock) => (caseSensitive ? block.fields() : block.foldedFields())
  let last: OpenBlock | undefined
  let searched = 0
  let found = 0
  return (block, index) => {
    const ends = column === 'text' ? block.columns.ends : block.columns.fieldEnds
    if (ends === undefined) return false
    const start = ends[index - 1] ?? 0
    if (block !== last || start < searched || found < start) {
      const at = search(block).indexOf(term, start)
      found = at === -1 ? Number.POSITIVE_INFINITY : at
      searched = start
      last = block
    }
    return found + term.length <= (ends[index] ?? 0)
  }
}
