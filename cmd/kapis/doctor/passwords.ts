import {
  passwordSecretName,
  passwordSecretType,
  toHashes,
} from '../../../pkg/iam/passwords/password-store.ts'
import { toUser, usersPath } from '../../../pkg/iam/users/user.ts'
import { parseList } from '../../../pkg/kubeclient/object/object.ts'
import { type Check, warning } from './check.ts'

/** Finds users whose password hash is missing, so that they cannot log in with a password. */
export const passwords: Check = {
  name: 'passwords',
  async examine({ client, groupDomain, namespace }) {
    const query = new URLSearchParams({ fieldSelector: `type=${passwordSecretType(groupDomain)}` })
    const [users, secrets] = await Promise.all([
      client.call({ path: usersPath(groupDomain) }),
      client.call({ path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?${query}` }),
    ])
    const kept = new Map(
      (parseList(secrets).items ?? []).map(secret => [secret.metadata.name, toHashes(secret)]),
    )
    const lost = (parseList(users).items ?? [])
      .map(toUser)
      .filter(({ inlineHash, credential }) => inlineHash === undefined && credential !== '')
      // The Secrets of another installation with the same users are in its own namespace.
      .filter(({ credentialNamespace }) => ['', namespace].includes(credentialNamespace))
      .filter(({ name, credential }) => kept.get(passwordSecretName(name))?.has(credential) !== true)
      .map(({ name }) => name)
    if (lost.length === 0) return []
    const more = lost.length > 5 ? ` and ${lost.length - 5} more` : ''
    const problem = `the Secrets with the password hashes of ${lost.length} users are lost: ${lost.slice(0, 5).join(', ')}${more}`
    const fix = `restore the Secrets ${passwordSecretName('NAME')} in ${namespace} from a backup, or set new passwords: kapis user set-password NAME`
    return [warning(problem, fix)]
  },
}
