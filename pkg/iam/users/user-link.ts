import type { ObjectMeta } from '../../kubeclient/object/object.ts'

export type UserLink = { readonly provider: string; readonly uid: string }

/** Returns the annotation that links a user to the account whose uid is its value. */
export function linkAnnotation(groupDomain: string, provider: string): string {
  return `${linkPrefix(groupDomain)}${provider}`
}

/** Returns all links of a user, including a link in two labels by KubeSphere 3.4. */
export function readLinks(metadata: ObjectMeta, groupDomain: string): readonly UserLink[] {
  const { annotations = {}, labels = {} } = metadata
  const prefix = linkPrefix(groupDomain)
  const links = Object.entries(annotations)
    .filter(([name, uid]) => name.startsWith(prefix) && uid !== '')
    .map(([name, uid]) => ({ provider: name.slice(prefix.length), uid }))
  const { [`iam.${groupDomain}/identify-provider`]: provider, [`iam.${groupDomain}/origin-uid`]: uid } =
    labels
  if (!provider || !uid || links.some(link => link.provider === provider)) return links
  return [...links, { provider, uid }]
}

function linkPrefix(groupDomain: string): string {
  return `iam.${groupDomain}/identity-provider.`
}
