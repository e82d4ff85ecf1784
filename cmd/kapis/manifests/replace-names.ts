/** The group domain and namespace that an installation replaces in the files of manifests/. */
export type Names = { readonly groupDomain: string; readonly namespace: string }

export const baseNames: Names = { groupDomain: 'kapis.io', namespace: 'kapis-system' }
export const platformNames: Names = { groupDomain: 'kubesphere.io', namespace: 'kubesphere-system' }

/** Replaces whole names: `kapis.io` in `users.iam.kapis.io`, but not in `notkapis.io`. */
export function replaceNames(text: string, from: Names, to: Names): string {
  const replaced = { [from.groupDomain]: to.groupDomain, [from.namespace]: to.namespace }
  const names = Object.keys(replaced).map(name => name.replaceAll('.', String.raw`\.`))
  const whole = new RegExp(String.raw`(?<![\w-])(?:${names.join('|')})(?![\w-])`, 'g')
  return text.replaceAll(whole, name => replaced[name] ?? name)
}
