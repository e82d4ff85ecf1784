import type { Problem } from '../../../pkg/config/config-error.ts'
import { readProviderConfig } from '../../../pkg/iam/identityprovider/config.ts'
import { providerTypes } from '../../../pkg/iam/identityprovider/provider-types.ts'
import { fieldsOf, isRecord } from '../../../pkg/kubeclient/object/object.ts'
import type { Fields } from './kubesphere-configuration.ts'
import { note, type Translation } from './translate-keys.ts'

/**
 * Translates an identity provider, so that the same accounts can log in, with the same permissions.
 */
export function provider(item: Fields, path: string, to: Translation): void {
  const { name, type } = item
  if (typeof name !== 'string' || name === '') {
    note(to, `${path}.name`, 'is required; the provider is omitted')
    return
  }
  if (!providerTypes.some(known => known === type)) {
    const supported = providerTypes.join(', ')
    const message = `Kapis has no such provider, ${JSON.stringify(name)} is omitted; supported: ${supported}`
    note(to, `${path}.type`, message)
    return
  }
  if (to.providers.some(other => other.name === name))
    note(to, `${path}.name`, 'another provider has this name; Kapis uses one of them')
  if (type === 'GitHubIdentityProvider')
    note(
      to,
      `${path}.type`,
      'KubeSphere links users to login names, Kapis to account numbers: annotate each user (docs/migration.md)',
    )
  const settings = type === 'LDAPIdentityProvider' ? ldap(item, path, to) : item.provider
  const document: Fields = {
    ...item,
    ...registration(item, path, to),
    ...(settings === undefined ? {} : { provider: settings }),
  }
  noteProblems(document, path, to)
  to.providers.push(document)
}

/** Returns how an account gets a user. The defaults of KubeSphere are not those of Kapis. */
function registration({ type, ...item }: Fields, path: string, to: Translation): Fields {
  const method = item.mappingMethod ?? ''
  const disableLoginConfirmation = item.disableLoginConfirmation ?? false
  if (method === 'mixed')
    note(to, `${path}.mappingMethod`, 'mixed became manual: users link their accounts themselves')
  if (method === '')
    note(to, `${path}.mappingMethod`, 'is missing and became lookup: KubeSphere creates no users without it')
  if (method === 'auto' && disableLoginConfirmation === false && type === 'LDAPIdentityProvider')
    note(
      to,
      `${path}.disableLoginConfirmation`,
      "false: users confirm their first login on a page of Kapis, which the login form of KubeSphere's console lacks",
    )
  const mappingMethod = method === 'mixed' ? 'manual' : method === '' ? 'lookup' : method
  return { mappingMethod, disableLoginConfirmation }
}

const groupKeys = ['groupSearchBase', 'groupSearchFilter', 'userMemberAttribute', 'groupMemberAttribute']

/** Returns the settings of a directory. In KubeSphere, startTLS means LDAPS. */
function ldap(item: Fields, path: string, to: Translation): unknown {
  if (!isRecord(item.provider)) return item.provider
  const { startTLS, ...provider } = item.provider
  for (const key of groupKeys.filter(key => provider[key] !== undefined))
    note(
      to,
      `${path}.provider.${key}`,
      'is omitted: KubeSphere ignores it, but Kapis would assign groups from it',
    )
  const settings = Object.fromEntries(Object.entries(provider).filter(([key]) => !groupKeys.includes(key)))
  if (startTLS === undefined) return settings
  return startTLS === true ? { ...settings, ldaps: true } : { ...settings, startTLS }
}

/** Adds notes on everything that Kapis would reject in the Secret of a provider. */
function noteProblems(document: Fields, path: string, to: Translation): void {
  const { rootCA, redirectURL } = fieldsOf(document.provider)
  if (redirectURL !== undefined)
    note(to, `${path}.provider.redirectURL`, 'must be a URL of Kapis: docs/identity-providers.md, "Consoles"')
  if (rootCA !== undefined)
    note(to, `${path}.provider.rootCA`, 'is a file of ks-apiserver: use rootCAData, or mount it in Kapis')
  const problems: Problem[] = []
  readProviderConfig(document, problems)
  for (const { path: member, message } of problems)
    if (member !== 'provider.rootCA') note(to, `${path}.${member}`, `rejected by Kapis: ${message}`)
}
