import { isRecord } from '../kube/object.ts'
import { badRequest } from '../status/status.ts'

/** What a path leads to in an object: the first value, undefined when there is none. */
export type JsonPath = {
  /** Names of members and places in lists; '*' is any item. */
  readonly steps: readonly (string | number)[]
  readonly read: (object: unknown) => unknown
}

const step =
  /^(?:\.((?:[^.[\]{}\\"'*]|\\.)+)|\.?\[(\d+)\]|\.?\[(\*)\]|\.(\*)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\])/s

/**
 * Parses the paths that kubectl takes, as far as they lead to one value: `{.a.b}`, `$.a.b`, `.a.b`, `a.b[0]`,
 * `.metadata.labels.app\.kubernetes\.io/name`, `['a.b']` and `[*]` for the first item that has the rest.
 *
 * @param parameter the query parameter's name, for the message
 * @throws Status 400 with the place at which it cannot be read
 */
export function parseJsonPath(text: string, parameter: string): JsonPath {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? text
  const rooted = inner.startsWith('$') ? inner.slice(1) : inner
  const whole = /^[.[]/.test(rooted) ? rooted : `.${rooted}`
  const start = text.indexOf(rooted) - (whole.length - rooted.length)
  const steps: (string | number)[] = []
  let rest = whole
  while (rest !== '') {
    const match = step.exec(rest)
    if (match === null) {
      const at = Math.max(start + whole.length - rest.length, 0)
      throw badRequest(
        `${parameter} ${JSON.stringify(text)} cannot be read at position ${at}: a path is like .spec.nodeName, .status.conditions[0].type or .metadata.labels['a.b/c']`,
      )
    }
    const [found, name, index, anyItem, anyMember, single, double] = match
    if (name !== undefined) steps.push(name.replace(/\\(.)/gs, '$1'))
    else if (index !== undefined) steps.push(Number(index))
    else if (anyItem !== undefined || anyMember !== undefined) steps.push('*')
    else steps.push((single ?? double ?? '').replace(/\\(.)/gs, '$1'))
    rest = rest.slice(found.length)
  }
  return { steps, read: object => walk(object, steps, 0) }
}

function walk(value: unknown, steps: readonly (string | number)[], at: number): unknown {
  const next = steps[at]
  if (next === undefined) return value
  if (next === '*') {
    const items = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
    for (const item of items) {
      const found = walk(item, steps, at + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (typeof next === 'number') return Array.isArray(value) ? walk(value[next], steps, at + 1) : undefined
  // Own members alone: `constructor` is no value of any object.
  return isRecord(value) && Object.hasOwn(value, next) ? walk(value[next], steps, at + 1) : undefined
}
