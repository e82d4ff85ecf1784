import type { Members, Platform } from '../session/platform-client.ts'

/** Creates a review in `resources.<group domain>`. @returns its status @throws Error */
export async function createReview(
  platform: Platform,
  review: { readonly plural: string; readonly kind: string; readonly spec: object },
): Promise<Members> {
  const { plural, kind, spec } = review
  const apiVersion = `resources.${await platform.groupDomain()}/v1alpha3`
  const { status } = await platform.call('review the access', `/apis/${apiVersion}/${plural}`, {
    method: 'POST',
    body: { apiVersion, kind, spec },
  })
  return Object(status)
}

/** Formats a reference to a role or binding, such as `RoleBinding/shop/dev`. */
export function refText(value: unknown): string {
  const { kind, namespace, name } = Object(value)
  return [kind, namespace, name].filter(part => part !== undefined).join('/')
}

/** Formats a rule in one line, such as `get,list pods,pods/log`. */
export function ruleText(value: unknown): string {
  const rule = Object(value)
  const joined = (list: unknown) => (Array.isArray(list) ? list.map(each => each || '""').join(',') : '')
  const groups = joined(rule.apiGroups)
  const names = joined(rule.resourceNames)
  return [
    joined(rule.verbs),
    joined(rule.resources) || joined(rule.nonResourceURLs),
    groups === '' || groups === '""' ? '' : `in ${groups}`,
    names === '' ? '' : `named ${names}`,
  ]
    .filter(part => part !== '')
    .join(' ')
}
