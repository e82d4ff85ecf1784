import { unavailable } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { fieldsOf, itemsOf } from '../../kubeclient/object/object.ts'
import { iamVersion } from './user.ts'

/**
 * Returns a function that checks whether the CRD of User has `spec.credential`, and remembers
 * success. With the CRD of an older release, kube-apiserver would silently drop the field and with
 * it the password.
 *
 * @throws Status 503 from the returned function if the field is missing; the next call checks again
 */
export function createSchemaCheck(options: { client: KubeClient; groupDomain: string }): () => Promise<void> {
  const { client, groupDomain } = options
  const name = `users.iam.${groupDomain}`
  let isKnown = false
  return async () => {
    if (isKnown) return
    const definition = await client.call({
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    })
    if (!hasCredential(definition))
      throw unavailable(
        `the CustomResourceDefinition ${name} has no spec.credential: apply the manifests of this release`,
      )
    isKnown = true
  }
}

/** Reports whether a CRD of User has `spec.credential`. */
export function hasCredential(definition: unknown): boolean {
  const version = itemsOf(fieldsOf(fieldsOf(definition).spec).versions)
    .map(fieldsOf)
    .find(one => one.name === iamVersion)
  const root = fieldsOf(fieldsOf(version?.schema).openAPIV3Schema)
  const spec = fieldsOf(fieldsOf(root.properties).spec)
  return 'credential' in fieldsOf(spec.properties) || [root, spec].some(isOpen)
}

function isOpen(schema: Readonly<Record<string, unknown>>): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true
}
