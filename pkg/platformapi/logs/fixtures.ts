import { createTimeSlices } from '../../scheduling/time-slices.ts'
import type { LogConcurrency } from './concurrency-limits.ts'
import type { ScanOptions } from './serve.ts'

const place = { leave: () => undefined }

/** Concurrency limits that admit every request. */
export const freePlaces: LogConcurrency = { search: () => place, tail: () => place }

export const freeScans: ScanOptions = { timeSlices: createTimeSlices(), enter: () => place }
