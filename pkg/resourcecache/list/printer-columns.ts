import { parseJsonPath } from '../../apirequest/query/json-path.ts'
import { findPaths, type Steps } from '../../json/path.ts'
import { decodeString, eachChild, skipBlank, skipValue } from '../../json/scan.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubeclient/object/object.ts'

/** A column of a custom resource (additionalPrinterColumns). */
export type PrinterColumn = { readonly name: string; readonly path: PrinterPath }

/**
 * The path to a value. With a condition, it is the path to a list, the condition that selects an
 * item, and the path within the item, as in `.status.conditions[?(@.type=="Ready")].status`.
 */
export type PrinterPath = {
  readonly before: Steps
  readonly item?: { readonly path: Steps; readonly value: string; readonly after: Steps }
}

// Real definitions stay below these limits. The author of a definition must not determine the cost
// of requests.
const maxColumns = 100
const maxPathLength = 1024
const quoted = /^(?:"([^"\\]*)"|'([^'\\]*)')$/

/**
 * Returns the printer columns of a version in a CustomResourceDefinition, at most the first
 * hundred. Columns with an unsupported path are omitted.
 */
export function readPrinterColumns(definition: unknown, version: string): readonly PrinterColumn[] {
  const found = itemsOf(fieldsOf(fieldsOf(definition).spec).versions)
    .map(fieldsOf)
    .find(({ name }) => name === version)
  return itemsOf(found?.additionalPrinterColumns)
    .slice(0, maxColumns)
    .map(fieldsOf)
    .flatMap(({ name, jsonPath }) => {
      const path = parsePrinterPath(textOf(jsonPath))
      return path === undefined ? [] : [{ name: textOf(name), path }]
    })
}

function parsePrinterPath(text: string): PrinterPath | undefined {
  if (text.length > maxPathLength) return undefined
  try {
    const start = text.indexOf('[?(')
    if (start < 0) return { before: parseJsonPath(text, 'jsonPath') }
    const end = text.lastIndexOf(')]')
    const condition = parseCondition(text.slice(start + 3, Math.max(end, 0)))
    const after = text.slice(end + 2)
    return (
      condition && {
        before: parseJsonPath(text.slice(0, start), 'jsonPath'),
        item: { ...condition, after: after === '' ? [] : parseJsonPath(after, 'jsonPath') },
      }
    )
  } catch {
    return undefined
  }
}

/** Parses `@.type=="Ready"` without a regular expression, which could backtrack. */
function parseCondition(text: string): { readonly path: Steps; readonly value: string } | undefined {
  const [left = '', ...right] = text.trim().split('==')
  const match = quoted.exec(right.join('==').trim())
  if (match === null || !left.startsWith('@')) return undefined
  return { path: parseJsonPath(left.slice(1).trim(), 'jsonPath'), value: match[1] ?? match[2] ?? '' }
}

/** @param source the value at the path before the item, as JSON text */
export function findPrinterValue(source: string, { item }: PrinterPath): string | undefined {
  if (item === undefined) return source
  if (!source.startsWith('[')) return undefined
  let found: string | undefined
  eachChild(source, skipBlank(source, 0), ({ valueStart }) => {
    const end = skipValue(source, valueStart)
    if (found !== undefined) return end
    const [key, value] = findPaths(source.slice(valueStart, end), [item.path, item.after])
    if (key !== undefined && toText(key) === item.value) found = value
    return end
  })
  return found
}

function toText(source: string): string {
  return source.startsWith('"') ? decodeString(source, 0, source.length) : source
}
