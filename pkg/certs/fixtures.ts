import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Status } from '../apierrors/status.ts'
import type { Call, KubeClient } from '../kubeclient/client.ts'
import { fieldsOf, type KubeObject, parseObject } from '../kubeclient/object/object.ts'

export type SecretStore = {
  readonly client: KubeClient
  readonly get: (name: string) => KubeObject | undefined
  /** Writes a Secret unconditionally, as another program would. */
  readonly put: (name: string, secret: object) => void
  readonly remove: (name: string) => void
  /** Returns the number of watches that were started. */
  readonly watches: () => number
  readonly writes: readonly string[]
}

/** Secrets of a namespace in memory, with list, watch and conditional updates. */
export function createSecretStore(): SecretStore {
  const secrets = new Map<string, KubeObject>()
  const watches: IncomingMessage[] = []
  const writes: string[] = []
  let version = 10

  function store(name: string, content: unknown): KubeObject {
    const { metadata, ...rest } = fieldsOf(content)
    const type = secrets.has(name) ? 'MODIFIED' : 'ADDED'
    const object = parseObject({
      ...rest,
      metadata: {
        uid: name,
        creationTimestamp: '',
        ...fieldsOf(metadata),
        name,
        resourceVersion: String(++version),
      },
    })
    secrets.set(name, object)
    for (const watch of watches) watch.push(`${JSON.stringify({ type, object })}\n`)
    return object
  }

  async function call({ method = 'GET', path, body }: Call): Promise<unknown> {
    const name = path.split('/')[6] ?? ''
    if (method === 'GET' && name === '')
      return { metadata: { resourceVersion: String(version) }, items: [...secrets.values()] }
    const requestedName = method === 'POST' ? String(fieldsOf(fieldsOf(body).metadata).name) : name
    const found = secrets.get(requestedName)
    if (method === 'GET') {
      if (found === undefined) throw new Status(404, 'NotFound', `secrets "${requestedName}" not found`)
      return found
    }
    writes.push(`${method} ${requestedName}`)
    const expected = fieldsOf(fieldsOf(body).metadata).resourceVersion
    if (method === 'POST' ? found !== undefined : found?.metadata.resourceVersion !== expected)
      throw new Status(409, 'Conflict', 'someone else was first')
    return store(requestedName, body)
  }

  return {
    writes,
    get: name => secrets.get(name),
    put: (name, secret) => void store(name, secret),
    remove: name => {
      const object = secrets.get(name)
      secrets.delete(name)
      for (const watch of watches) watch.push(`${JSON.stringify({ type: 'DELETED', object })}\n`)
    },
    watches: () => watches.length,
    client: {
      call: async request => call({ ...request, path: request.path.replace(/\?.*/, '') }),
      stream: async ({ path }) => {
        const stream = new IncomingMessage(new Socket())
        if (new URLSearchParams(path.split('?')[1]).has('watch')) watches.push(stream)
        else {
          stream.push(JSON.stringify(await call({ path: path.replace(/\?.*/, '') })))
          stream.push(null)
        }
        return stream
      },
      close: () => undefined,
    },
  }
}
