import { fieldsOf, itemsOf } from '../../../pkg/kubeclient/object/object.ts'
import { apply, type Check, error, read } from './check.ts'
import { readManifests } from './manifest-objects.ts'

const api = '/apis/admissionregistration.k8s.io/v1'
const plurals: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
}

/** Checks the policies that keep users with write access to users from becoming other users. */
export const admission: Check = {
  name: 'admission',
  async examine({ client, groupDomain, namespace }) {
    const manifests = readManifests({ groupDomain, namespace })
    const findings = await Promise.all(
      manifests.map(async ({ kind, metadata: { name } }) => {
        const plural = plurals[kind]
        if (plural === undefined) return []
        const found = await read(client, `${api}/${plural}/${name}`)
        if (found === undefined) {
          const problem = `the ${kind} ${name} is missing: every account with write access to users can become any user`
          return [error(problem, apply)]
        }
        const actions = itemsOf(fieldsOf(found.spec).validationActions)
        const isHeld = plural === plurals.ValidatingAdmissionPolicy || actions.includes('Deny')
        return isHeld ? [] : [error(`the ${kind} ${name} denies nothing`, apply)]
      }),
    )
    return findings.flat()
  },
}
