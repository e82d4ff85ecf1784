/**
 * A scalar other than string, boolean and null, such as a number or one with a custom tag. Compared
 * and written as source text.
 */
export type Opaque = { readonly source: string }
export type Fields = ReadonlyMap<string, Value>
/** A YAML value as kubectl reads it (go-yaml 2). */
export type Value = string | boolean | null | Opaque | readonly Value[] | Fields

/** A path step: the key of a mapping, or the `name` of a list item. */
export type Step = string | { readonly name: string }
export type Path = readonly Step[]
/** Sets the value at a path with its parents; without `value`, removes it. */
export type ValueChange = { readonly path: Path; readonly value?: Value }

export function isFields(value: Value | undefined): value is Fields {
  return value instanceof Map
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

export function fields(members: Readonly<Record<string, Value>>): Fields {
  return new Map(Object.entries(members))
}

export function field(value: Value | undefined, key: string): Value | undefined {
  return isFields(value) ? value.get(key) : undefined
}

/** Returns the `name` of a list item; '' unless it is a string. */
export function nameOf(item: Value): string {
  const name = field(item, 'name')
  return typeof name === 'string' ? name : ''
}

export function child(value: Value | undefined, step: Step): Value | undefined {
  if (typeof step === 'string') return field(value, step)
  return isList(value) ? value.find(item => nameOf(item) === step.name) : undefined
}

export function valueAt(value: Value | undefined, path: Path): Value | undefined {
  return path.reduce<Value | undefined>(child, value)
}

/** Returns the value after a change, or the identical value if the change has no effect. */
export function applyChange(value: Value | undefined, change: ValueChange): Value | undefined {
  const [step, ...path] = change.path
  if (step === undefined) return change.value
  const old = child(value, step)
  const next = applyChange(old, { ...change, path })
  if (next === old) return value
  if (typeof step === 'string') return withField(value, step, next)
  return withItem(value, step.name, next)
}

function withField(value: Value | undefined, key: string, next: Value | undefined): Value {
  const members = new Map(isFields(value) ? value : [])
  if (next === undefined) members.delete(key)
  else members.set(key, next)
  return members
}

function withItem(value: Value | undefined, name: string, next: Value | undefined): Value {
  const items = isList(value) ? value : []
  const at = items.findIndex(item => nameOf(item) === name)
  if (next === undefined) return items.toSpliced(at, 1)
  // kubectl writes the name after the other fields.
  const named = isFields(next) && !next.has('name') ? new Map([...next, ['name', name]]) : next
  return at < 0 ? [...items, named] : items.with(at, named)
}
