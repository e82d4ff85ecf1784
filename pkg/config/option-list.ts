import { z } from 'zod'
import type { OptionNotes } from './option.ts'

/** Returns the schema without defaults and optional markers. */
export function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrapSchema(schema.unwrap())
  return schema instanceof z.ZodPipe ? unwrapSchema(schema.in) : schema
}

/** Returns the fields of a mapping; undefined for any other schema. */
export function fieldsOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const inner = unwrapSchema(schema)
  return inner instanceof z.ZodObject ? inner.shape : undefined
}

/** Returns the fields of the mapping at a path. */
export function memberAt(schema: z.core.$ZodType, path: readonly PropertyKey[]) {
  const found = path.reduce<z.core.$ZodType | undefined>((at, key) => {
    if (at === undefined) return undefined
    const inner = unwrapSchema(at)
    return inner instanceof z.ZodArray ? inner.element : fieldsOf(inner)?.[String(key)]
  }, schema)
  return found === undefined ? undefined : fieldsOf(found)
}

/** An option by its path in the file, with its metadata. */
export type Option = OptionNotes & { readonly path: string; readonly schema: z.core.$ZodType }

/** Lists all options of a mapping in file order; a list is one option. */
export function optionsOf(schema: z.core.$ZodType, prefix = ''): readonly Option[] {
  return Object.entries(fieldsOf(schema) ?? {}).flatMap(([key, member]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`
    return fieldsOf(member) === undefined
      ? [{ ...notesOf(member, path), path, schema: member }]
      : optionsOf(member, path)
  })
}

/** @throws Error if an option has no description */
function notesOf(schema: z.core.$ZodType, path: string): OptionNotes {
  const { description, env, isReloaded } = z.globalRegistry.get(schema) ?? {}
  if (description === undefined) throw new Error(`the option ${path} has no description`)
  return {
    description,
    ...(typeof env === 'string' ? { env } : {}),
    ...(isReloaded === true ? { isReloaded } : {}),
  }
}
