import type { LogRecord, Origin } from '../../record.ts'

export type Stream = Origin

export function streamOf({ timeNs: _time, log: _log, fields: _fields, ...stream }: LogRecord): Stream {
  return stream
}

/** Returns a key that is equal only for equal streams. */
export function streamKey({ namespace, pod, container, host, dockerId, labels }: Stream): string {
  const key = `${namespace}\0${pod}\0${container}\0${host}\0${dockerId}`
  return labels === undefined ? key : `${key}\0${JSON.stringify(labels)}`
}
