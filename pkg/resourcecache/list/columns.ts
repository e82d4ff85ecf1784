import { badRequest } from '../../apierrors/status.ts'
import type { ListQuery } from '../../apirequest/query/list-query.ts'
import type { FieldRequirement } from '../../apirequest/selector/field-selector.ts'
import { requirementsOf } from '../../apirequest/selector/selector.ts'
import { decodeString } from '../../json/scan.ts'
import type { Cell, Kind } from '../kind.ts'
import type { CachedObject } from '../store/cached-object.ts'
import { createFieldExtractor } from '../store/field-extractor.ts'
import { isValue, type ListRestriction } from './list-predicate.ts'
import { findPrinterValue, type PrinterColumn } from './printer-columns.ts'
import { ignoredText } from './supported-query.ts'

type TableKind = Pick<Kind, 'plural' | 'columns'>
type Requirement = Pick<FieldRequirement, 'operator' | 'value'>

/** A column by which a list can be filtered. */
type FilterColumn = {
  readonly name: string
  readonly toMatch: (requirement: Requirement) => (entry: CachedObject) => boolean
  /** The printer column of the CustomResourceDefinition; undefined for one of Kapis. */
  readonly definition?: unknown
}

// The text that kubectl prints for a cell without a value.
const empty = '<none>'

/** @param printer the columns of a custom resource; undefined for any other kind */
function columnsOf(kind: TableKind, printer: readonly PrinterColumn[] | undefined): readonly FilterColumn[] {
  if (kind.columns.length > 0)
    return kind.columns.map(({ name }, index) => byText(name, entry => toText(cellAt(entry, index))))
  const own = byText('Name', entry => entry.name)
  if (printer !== undefined && printer.length > 0) return [own, ...printer.map(toFilterColumn)]
  return [own, byText('Age', entry => entry.meta.creationTimestamp)]
}

function byText(name: string, read: (entry: CachedObject) => string): FilterColumn {
  return {
    name,
    toMatch:
      ({ operator, value }) =>
      entry =>
        (read(entry) === value) === (operator === '='),
  }
}

function toFilterColumn({ name, path }: PrinterColumn): FilterColumn {
  return {
    name,
    toMatch: ({ operator, value }) =>
      createFieldExtractor([path.before], ([found]) => {
        const source = found === undefined ? undefined : findPrinterValue(found, path)
        const isEqual = source === undefined || source === 'null' ? value === empty : isCell(source, value)
        return isEqual === (operator === '=')
      }),
    definition: path,
  }
}

function isCell(source: string, expected: string): boolean {
  return source.startsWith('"')
    ? decodeString(source, 0, source.length) === expected
    : isValue(source, expected)
}

function cellAt({ fields, decoration }: CachedObject, index: number): Cell {
  return fields.cells[index] ?? decoration.cells[index - fields.cells.length] ?? ''
}

/** Returns the text of a cell to compare; of an age, its start time. */
function toText(cell: Cell): string {
  if (typeof cell !== 'object') return String(cell)
  return 'since' in cell ? cell.since : cell.text
}

/**
 * Restricts a list to rows whose cells match the columnSelector. Column names are case-insensitive,
 * since kubectl prints them in capitals.
 *
 * @throws Status 400 for an unknown column, with the supported ones
 */
export function restrictToColumns(
  kind: TableKind,
  requirements: readonly FieldRequirement[],
  printer?: readonly PrinterColumn[],
): ListRestriction {
  const columns = columnsOf(kind, printer)
  const found = requirements.map(({ field, ...requirement }) => {
    const column = columns.find(({ name }) => isNamed(name, field))
    if (column === undefined)
      throw badRequest(
        `unknown column ${JSON.stringify(field)} of ${kind.plural}; supported: ${columns.map(({ name }) => name).join(', ')}`,
      )
    return { column, requirement }
  })
  const matches = found.map(({ column, requirement }) => column.toMatch(requirement))
  return {
    key: JSON.stringify([
      'columns',
      ...found.map(({ column: { name, definition }, requirement }) => [name, definition, requirement]),
    ]),
    matches: entry => matches.every(isMatch => isMatch(entry)),
  }
}

function isNamed(name: string, expected: string): boolean {
  return name.toLowerCase() === expected.toLowerCase()
}

/** The same for the platform API, which ignores unknown columns. @throws Status 400 */
export async function toColumnRestriction(
  kind: Kind,
  { columns }: Pick<ListQuery, 'columns'>,
  printerColumns: (kind: Kind) => Promise<readonly PrinterColumn[] | undefined>,
): Promise<{ readonly restriction?: ListRestriction; readonly warning?: string }> {
  const requirements = requirementsOf(columns)
  if (requirements.length === 0) return {}
  const printer = kind.columns.length > 0 ? undefined : await printerColumns(kind)
  const names = columnsOf(kind, printer).map(({ name }) => name)
  const isKnown = ({ field }: FieldRequirement) => names.some(name => isNamed(name, field))
  const known = requirements.filter(isKnown)
  const unknown = requirements.filter(requirement => !isKnown(requirement)).map(({ field }) => field)
  return {
    ...(known.length > 0 && { restriction: restrictToColumns(kind, known, printer) }),
    ...(unknown.length > 0 && { warning: ignoredText('column', unknown, kind.plural, names) }),
  }
}
