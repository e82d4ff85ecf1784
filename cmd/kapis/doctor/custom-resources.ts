import { hasCredential } from '../../../pkg/iam/users/check-user-crd.ts'
import { fieldsOf, itemsOf } from '../../../pkg/kubeclient/object/object.ts'
import { apply, type Check, error, read } from './check.ts'
import { readManifests } from './manifest-objects.ts'

/** Checks the custom resources of users and logins. */
export const customResources: Check = {
  name: 'custom-resources',
  async examine({ client, groupDomain, namespace }) {
    const expected = readManifests({ groupDomain, namespace }).filter(
      ({ kind }) => kind === 'CustomResourceDefinition',
    )
    const findings = await Promise.all(
      expected.map(async ({ metadata: { name } }) => {
        const found = await read(client, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`)
        if (found === undefined) return [error(`the CustomResourceDefinition ${name} is missing`, apply)]
        const conditions = itemsOf(fieldsOf(found.status).conditions).map(fieldsOf)
        const isServed = conditions.some(({ type, status }) => type === 'Established' && status === 'True')
        const fix = `check its conditions: kubectl describe crd ${name}`
        if (!isServed) return [error(`the CustomResourceDefinition ${name} is not served`, fix)]
        if (name !== `users.iam.${groupDomain}` || hasCredential(found)) return []
        return [
          error(
            `the CustomResourceDefinition ${name} is from an older release: it has no spec.credential`,
            apply,
          ),
        ]
      }),
    )
    return findings.flat()
  },
}
