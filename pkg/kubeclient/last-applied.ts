import type { ObjectMeta } from './object.ts'

/** Where `kubectl apply` keeps the whole object as it was applied, whatever secrets that held. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The metadata without it; the same when there is none. */
export function withoutLastApplied<T extends Pick<ObjectMeta, 'annotations'>>(metadata: T): T {
  if (metadata.annotations?.[lastAppliedAnnotation] === undefined) return metadata
  const { [lastAppliedAnnotation]: _applied, ...annotations } = metadata.annotations
  return { ...metadata, annotations }
}
