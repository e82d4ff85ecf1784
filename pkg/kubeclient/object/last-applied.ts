import type { ObjectMeta } from './object.ts'

/** The annotation in which `kubectl apply` stores the whole applied object, including secrets. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export function withoutLastApplied<T extends Pick<ObjectMeta, 'annotations'>>(metadata: T): T {
  if (metadata.annotations?.[lastAppliedAnnotation] === undefined) return metadata
  const { [lastAppliedAnnotation]: _applied, ...annotations } = metadata.annotations
  return { ...metadata, annotations }
}
