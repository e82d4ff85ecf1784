import { isFields, isList, nameOf, type Value } from '../../../pkg/yaml/edit/value.ts'

/**
 * Rejects a kubeconfig that kubectl cannot load, as far as names and lists are concerned: an entry
 * added to it would not work.
 *
 * @throws Error
 */
export function assertLoadable(value: Value): void {
  if (value === null) return
  if (!isFields(value)) throw new Error('expected a mapping')
  assertText(value.get('apiVersion'), 'apiVersion', 'v1')
  assertText(value.get('kind'), 'kind', 'Config')
  assertText(value.get('current-context'), 'current-context')
  for (const [list, body] of [
    ['clusters', 'cluster'],
    ['contexts', 'context'],
    ['users', 'user'],
  ] as const)
    assertEntries(value.get(list) ?? null, list, body)
}

function assertEntries(items: Value, list: string, body: string): void {
  if (items === null) return
  if (!isList(items)) throw new Error(`${list} is not a list`)
  const names = new Set<string>()
  for (const [index, item] of items.entries()) {
    const path = `${list}[${index}]`
    if (item !== null && !isFields(item)) throw new Error(`${path} is not a mapping`)
    if (isFields(item)) assertText(item.get('name'), `${path}.name`)
    const content = isFields(item) ? item.get(body) : null
    if (content !== null && content !== undefined && !isFields(content))
      throw new Error(`${path}.${body} is not a mapping`)
    const name = nameOf(item)
    if (names.has(name)) throw new Error(`duplicate name ${JSON.stringify(name)} in ${list}`)
    names.add(name)
  }
}

function assertText(value: Value | undefined, path: string, only?: string): void {
  if (value === undefined || value === null || value === '') return
  if (typeof value !== 'string') throw new Error(`${path} is not a string`)
  if (only !== undefined && value !== only) throw new Error(`${path} ${JSON.stringify(value)} is not ${only}`)
}
