/** Measurements that are taken periodically during a load. */
export type Sample = {
  readonly seconds: number
  readonly megabytes: number
  readonly heapMegabytes: number
  /** Memory outside of the V8 heap that V8 accounts for, mainly buffers. */
  readonly externalMegabytes: number
  readonly handles: number
  /**
   * Active resources of the event loop: sockets, timers, streams (`nodejs_active_resources_total`).
   */
  readonly resources: number
  readonly timers: number
  /** Requests in progress: watches and the current load. */
  readonly inFlight: number
}

export type Growth = { readonly perHour: number; readonly from: number; readonly to: number }

/** Returns the slope by least squares, which two high samples hardly affect. */
export function growthOf(samples: readonly Sample[], read: (sample: Sample) => number): Growth {
  const count = samples.length
  const meanX = samples.reduce((sum, { seconds }) => sum + seconds, 0) / count
  const meanY = samples.reduce((sum, sample) => sum + read(sample), 0) / count
  let above = 0
  let below = 0
  for (const sample of samples) {
    above += (sample.seconds - meanX) * (read(sample) - meanY)
    below += (sample.seconds - meanX) ** 2
  }
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined || below === 0) throw new Error('too few samples')
  return { perHour: (above / below) * 3_600, from: read(first), to: read(last) }
}

/** Returns the later half of the samples, which excludes the start of the load. */
export function laterHalf(samples: readonly Sample[]): readonly Sample[] {
  const middle = ((samples[0]?.seconds ?? 0) + (samples.at(-1)?.seconds ?? 0)) / 2
  return samples.filter(({ seconds }) => seconds >= middle)
}

/**
 * Returns the value of a metric without labels, or the sum over its labels, which `label` filters.
 */
export function metric(text: string, name: string, label = ''): number {
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*${label}[^}]*\\})? ([0-9.e+]+)$`, 'gm'))]
  if (values.length === 0) throw new Error(`metric ${name} not found`)
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}

export function toRow({ seconds, ...figures }: Sample): string {
  return `${String(Math.round(seconds)).padStart(6)} s ${Object.values(figures)
    .map(value => String(Math.round(value)).padStart(10))
    .join('')}`
}
