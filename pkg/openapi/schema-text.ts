import { isRecord } from '../kubeclient/object/object.ts'
import type { Schema } from './schema.ts'

/** Returns a short text for readers: `{ items: Component[], totalItems: integer }`. */
export function schemaText(schema: Schema): string {
  const { type, properties, items, additionalProperties } = schema
  if (typeof schema.$ref === 'string') return schema.$ref.split('.').at(-1) ?? ''
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) return choices.filter(isRecord).map(schemaText).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.join(' | ')
  if (isRecord(items)) return listText(schemaText(items))
  if (isRecord(properties)) {
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
    const members = Object.entries(properties).map(
      ([name, inner]) =>
        `${name}${required.includes(name) ? '' : '?'}: ${isRecord(inner) ? schemaText(inner) : ''}`,
    )
    return `{ ${members.join(', ')} }`
  }
  if (isRecord(additionalProperties)) return `map of ${schemaText(additionalProperties)}`
  return typeof type === 'string' ? type : 'anything'
}

/** Describes a parameter: type or values, range and default. */
export function rangeText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength } = schema
  const bounds = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    minLength === undefined ? '' : `at least ${minLength} characters`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    schema.default === undefined ? '' : `default ${schema.default}`,
  ].filter(text => text !== '')
  return [schemaText(schema), ...bounds].join(', ')
}

function listText(item: string): string {
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}
