import { createTimeSlices } from '../../scheduling/time-slices.ts'
import type { LogConcurrency } from './concurrency-limits.ts'
import type { ScanOptions } from './serve.ts'

const slot = { leave: () => undefined }

/** Concurrency limits that admit every request. */
export const unlimitedConcurrency: LogConcurrency = { search: () => slot, tail: () => slot }

export const freeScans: ScanOptions = { timeSlices: createTimeSlices(), enter: () => slot }
