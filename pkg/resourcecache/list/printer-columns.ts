import { parseJsonPath } from '../../apirequest/query/json-path.ts'
import { findPaths, type Steps } from '../../json/path.ts'
import { decodeString, eachChild, skipBlank, skipValue } from '../../json/scan.ts'
import { itemsOf, membersOf, textOf } from '../../kubeclient/object/object.ts'

/** A column of a custom resource (additionalPrinterColumns). */
export type PrinterColumn = { readonly name: string; readonly path: PrinterPath }

/**
 * The path to the value; or the path to a list, the condition that selects an item, and the path
 * within that item, as `.status.conditions[?(@.type=="Ready")].status`.
 */
export type PrinterPath = {
  readonly before: Steps
  readonly item?: { readonly path: Steps; readonly value: string; readonly after: Steps }
}

const filtered = /^(.*?)\[\?\(\s*@(.+?)\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)\](.*)$/s

/**
 * The columns that a CustomResourceDefinition gives a version. One whose path Kapis cannot read is
 * left out.
 */
export function readPrinterColumns(definition: unknown, version: string): readonly PrinterColumn[] {
  const found = itemsOf(membersOf(membersOf(definition).spec).versions)
    .map(membersOf)
    .find(({ name }) => name === version)
  return itemsOf(found?.additionalPrinterColumns)
    .map(membersOf)
    .flatMap(({ name, jsonPath }) => {
      const path = parsePrinterPath(textOf(jsonPath))
      return path === undefined ? [] : [{ name: textOf(name), path }]
    })
}

function parsePrinterPath(text: string): PrinterPath | undefined {
  try {
    const match = filtered.exec(text)
    if (match === null) return { before: parseJsonPath(text, 'jsonPath') }
    const [, before = '', path = '', double, single, after = ''] = match
    return {
      before: parseJsonPath(before, 'jsonPath'),
      item: {
        path: parseJsonPath(path, 'jsonPath'),
        value: double ?? single ?? '',
        after: after === '' ? [] : parseJsonPath(after, 'jsonPath'),
      },
    }
  } catch {
    return undefined
  }
}

/** @param source the value at the path before the item, as JSON */
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
