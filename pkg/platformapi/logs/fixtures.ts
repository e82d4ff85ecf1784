import { createTimeSlices } from '../../scheduling/time-slices.ts'
import type { LogConcurrency } from './concurrency-limits.ts'
import type { ScanOptions } from './serve.ts'

const place = { leave: () => undefined }

/** An unlimited number of places. */
export const freePlaces: LogConcurrency = { search: () => place, tail: () => place }

export const freeScans: ScanOptions = { timeSlices: createTimeSlices(), enter: () => place }
