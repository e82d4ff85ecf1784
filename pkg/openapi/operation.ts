import { object, type Schema, text } from './schema.ts'

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof methods)[number]

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required?: boolean
  readonly schema: Schema
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>

export type ApiResponse = {
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>
}

/** Authentication schemes; `none` in addition to others makes authentication optional. */
export type Scheme = 'bearer' | 'clientCertificate' | 'password' | 'client' | 'browser' | 'none'

/** An operation of the document. Its operationId is derived from method and path. */
export type Operation = {
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly body?: { readonly description?: string; readonly required?: boolean; readonly content: Content }
  /** Responses by status code. */
  readonly responses: Readonly<Record<string, ApiResponse>>
  readonly security: readonly Scheme[]
}

/** Operations of a path template such as `/users/{user}`; HEAD is served wherever GET is. */
export type PathRow = { readonly [method in Method]?: Operation }
export type Paths = Readonly<Record<string, PathRow>>

/** Returns the same operations with a prefix before their paths. */
export function under(prefix: string, paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).map(([path, row]) => [prefix + path, row]))
}

export function query(name: string, description: string, schema: Schema = text()): Parameter {
  return { name, in: 'query', description, schema }
}

export function requiredQuery(name: string, description: string, schema: Schema = text()): Parameter {
  return { ...query(name, description, schema), required: true }
}

export function segment(name: string, description: string): Parameter {
  return { name, in: 'path', required: true, description, schema: text() }
}

export function json(schema: Schema): Content {
  return { 'application/json': { schema } }
}

export function content(types: readonly string[], schema: Schema): Content {
  return Object.fromEntries(types.map(type => [type, { schema }]))
}

export function ok(schema: Schema, description = 'The requested data.'): { readonly 200: ApiResponse } {
  return { 200: { description, content: json(schema) } }
}

export const success = ok(object({ message: text('', { const: 'success' }) }), 'Done.')
