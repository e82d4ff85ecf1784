import { badRequest } from '../../apierrors/status.ts'
import type { Steps } from '../../json/path.ts'

const maxSteps = 64
const step =
  /^(?:\.((?:[^.[\]{}\\"'*]|\\.)+)|\.?\[(\d+)\]|\.?\[(\*)\]|\.(\*)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\])/s

/**
 * Parses JSONPath expressions of kubectl that select one value: `{.a.b}`, `$.a.b`, `.a.b`,
 * `a.b[0]`, `.metadata.labels.app\.kubernetes\.io/name`, `['a.b']`. `[*]` selects the first item in
 * which the rest of the path exists.
 *
 * @param parameter name of the query parameter, for the message
 * @throws Status 400 with the position of a syntax error, or for more than 64 steps
 */
export function parseJsonPath(text: string, parameter: string): Steps {
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
        `${parameter} ${JSON.stringify(text)} is invalid at position ${at}: expected a path such as .spec.nodeName, .status.conditions[0].type or .metadata.labels['a.b/c']`,
      )
    }
    const [found, name, index, anyItem, anyMember, single, double] = match
    if (name !== undefined) steps.push(name.replace(/\\(.)/gs, '$1'))
    else if (index !== undefined) steps.push(Number(index))
    else if (anyItem !== undefined || anyMember !== undefined) steps.push('*')
    else steps.push((single ?? double ?? '').replace(/\\(.)/gs, '$1'))
    rest = rest.slice(found.length)
    if (steps.length > maxSteps) throw badRequest(`${parameter} names a path of more than ${maxSteps} steps`)
  }
  return steps
}
