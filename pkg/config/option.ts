import { z } from 'zod'

/** Documentation of an option, which its schema does not contain. */
export type OptionNotes = {
  readonly description: string
  /** The environment variable that overrides the option. */
  readonly env?: string
  /** Whether a change in the file takes effect without a restart. */
  readonly isReloaded?: true
}

export type ParsedOption<S extends z.ZodType> = z.output<S>

type Pattern = {
  readonly pattern?: RegExp | undefined
  readonly is?: string | undefined
  /** Whether messages omit the text. */
  readonly isSecret?: true | undefined
}
type TextRule = OptionNotes & Pattern
type IntegerRule = OptionNotes & { readonly min: number; readonly max: number }

/** A secret in one line: a block of YAML ends with a line break, which no client would send. */
export const secretLine = {
  isSecret: true,
  pattern: /^\P{Cc}*$/u,
  is: 'a text without line breaks and other control characters',
} as const satisfies Pattern

export function text({ default: fallback, ...rule }: TextRule & { readonly default: string }) {
  return string(rule).default(fallback).meta(notesOf(rule))
}

/** A string without a static default. */
export function optionalText(rule: TextRule) {
  return string(rule).optional().meta(notesOf(rule))
}

/** A required string that is not empty. */
export function requiredText({ pattern, is, isSecret, ...notes }: TextRule) {
  const required = string({ ...notes }).min(1, { error: 'is required', abort: true })
  return withPattern(required, { pattern, is, isSecret }).meta(notesOf(notes))
}

/** A list of strings; in the environment a comma-separated string. */
export function texts({
  item = z.string({ error: 'must be a string' }),
  ...notes
}: OptionNotes & { item?: z.ZodString }) {
  return z.array(item, { error: 'must be a list of strings' }).default([]).meta(notes)
}

/** An optional list of strings; an empty list differs from a missing one. */
export function optionalTexts(notes: OptionNotes) {
  const item = z.string({ error: 'must be a string' })
  return z.array(item, { error: 'must be a list of strings' }).optional().meta(notes)
}

export function integer({ default: fallback, ...rule }: IntegerRule & { readonly default: number }) {
  return whole(rule).default(fallback).meta(notesOf(rule))
}

/** An integer without a static default. */
export function optionalInteger(rule: IntegerRule) {
  return whole(rule).optional().meta(notesOf(rule))
}

/** A TCP port from 0 (any free port) to 65535. */
export function port(notes: OptionNotes & { readonly default: number }) {
  return integer({ ...notes, min: 0, max: 65_535 })
}

export function boolean({ default: fallback, ...notes }: OptionNotes & { readonly default: boolean }) {
  return z.boolean({ error: 'must be true or false' }).default(fallback).meta(notes)
}

/** An enumeration of strings. */
export function choice<const T extends readonly [string, ...string[]]>({
  of,
  default: fallback,
  ...notes
}: OptionNotes & { readonly of: T; readonly default: T[number] }) {
  const words = z.enum(of, { error: `must be one of ${of.join(', ')}` })
  return words.prefault(fallback).meta({ ...notes, default: fallback })
}

/** A required enumeration of strings. */
export function requiredChoice<const T extends readonly [string, ...string[]]>({
  of,
  ...notes
}: OptionNotes & { readonly of: T }) {
  return z.enum(of, { error: `must be one of ${of.join(', ')}` }).meta(notes)
}

/** An optional enumeration of strings. */
export function optionalChoice<const T extends readonly [string, ...string[]]>(
  rule: OptionNotes & { readonly of: T },
) {
  return requiredChoice(rule).optional()
}

/** A value that another schema parses. */
export function anything(notes: OptionNotes) {
  return z.unknown().optional().meta(notes)
}

/** A mapping with these fields and no others. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? 'must be a mapping' : undefined),
  })
}

function string(rule: TextRule) {
  const type = z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') })
  return withPattern(type, rule)
}

function withPattern(type: z.ZodString, { pattern, is, isSecret }: Pattern) {
  if (pattern === undefined) return type
  const quoteInput = (input: unknown) => (isSecret ? '' : `, not ${JSON.stringify(input)}`)
  return type.regex(pattern, { error: ({ input }) => `must be ${is}${quoteInput(input)}` })
}

function whole({ min, max }: IntegerRule) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `must be a whole number from ${min} to ${max}, not ${toShown(input)}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** Formats a value for an error message. */
function toShown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function notesOf({ description, env, isReloaded }: OptionNotes): OptionNotes {
  return { description, ...(env === undefined ? {} : { env }), ...(isReloaded ? { isReloaded } : {}) }
}
