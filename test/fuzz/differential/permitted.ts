import { type Caller, type MarkedObject, resourcesGroup, type User } from './model.ts'
import type { RequestSender } from './request-sender.ts'

const verbs = ['get', 'list', 'watch']
// Kinds that the group of the platform has too (docs/adr/0010-permissions-of-platform-reads.md).
const ofPlatform = new Set(['nodes', 'namespaces', 'pods'])

/**
 * Returns a function that checks at kube-apiserver whether any permission allows a caller to read
 * an object. Results are cached.
 */
export function createPermitted(
  admin: RequestSender,
): (caller: Caller, object: MarkedObject) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  return (caller, object) => {
    const key = `${caller.what} ${object.marker}`
    const verdict = known.get(key) ?? maySee(admin, caller, object)
    known.set(key, verdict)
    return verdict
  }
}

async function maySee(admin: RequestSender, caller: Caller, object: MarkedObject): Promise<boolean> {
  if (caller.sees?.includes(object.name)) return true
  for (const user of [...(caller.user === undefined ? [] : [caller.user]), ...(caller.alsoAs ?? [])]) {
    if (await mayRead(admin, user, object)) return true
  }
  return false
}

async function mayRead(
  admin: RequestSender,
  user: User,
  { group, resource, namespace, name }: MarkedObject,
): Promise<boolean> {
  const groups = ofPlatform.has(resource) ? [group, resourcesGroup] : [group]
  const places = [
    { name, namespace: resource === 'namespaces' ? name : namespace },
    ...(namespace === '' ? [] : [{ namespace }]),
    {},
  ]
  const permissions = groups.flatMap(of =>
    verbs.flatMap(verb => places.map(place => ({ group: of, resource, verb, ...place }))),
  )
  const verdicts = await Promise.all(
    permissions.map(resourceAttributes => isAllowed(admin, { ...user, resourceAttributes })),
  )
  return verdicts.includes(true)
}

async function isAllowed(admin: RequestSender, spec: object): Promise<boolean> {
  const { code, text } = await admin.send({
    method: 'POST',
    target: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    headers: ['Content-Type', 'application/json'],
    body: JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }),
  })
  if (code !== 201) throw new Error(`a SubjectAccessReview failed with ${code}: ${text}`)
  return JSON.parse(text).status.allowed === true
}
