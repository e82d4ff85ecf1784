import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import pino from 'pino'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { RbacIndex } from '../rbac/rbac-index.ts'

const metadata = (name: string, namespace?: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2031-01-01T00:00:00Z',
  ...(namespace === undefined ? {} : { namespace }),
})

type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string }

export const user = (name: string): Subject => ({ kind: 'User', name })
export const groupOf = (name: string): Subject => ({ kind: 'Group', name })

export function role(name: string, rules: readonly object[], namespace?: string): KubeObject {
  return {
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadata(name, namespace),
    rules,
  }
}

/** @param to the role as `ClusterRole/view` or `Role/own` */
export function binding(
  name: string,
  to: string,
  subjects: readonly Subject[],
  namespace?: string,
): KubeObject {
  const [kind, roleName] = to.split('/')
  return {
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadata(name, namespace),
    roleRef: { kind, name: roleName },
    subjects,
  }
}

/** Returns an index of objects from a fake kube-apiserver, without later changes. */
export async function indexOf(objects: readonly KubeObject[]): Promise<RbacIndex> {
  const client: KubeClient = {
    call: () => Promise.reject(new Error('nothing is called here')),
    async stream({ path }) {
      const response = new IncomingMessage(new Socket())
      const [plural = ''] = (path.split('/').at(-1) ?? '').split('?')
      const items = objects.filter(({ kind }) => `${String(kind).toLowerCase()}s` === plural)
      if (!new URLSearchParams(path.split('?')[1]).has('watch')) {
        const list = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }
        response.push(JSON.stringify(list))
        response.push(null)
      }
      return response
    },
    close: () => undefined,
  }
  const index = new RbacIndex({ client, logger: pino({ level: 'silent' }) })
  await index.start()
  // `start` does not wait for cluster-wide bindings.
  for (;;) {
    try {
      index.reader().clusterBindings()
      return index
    } catch {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
}
