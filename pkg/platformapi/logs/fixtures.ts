import type { LogPlaces } from './concurrency-limits.ts'

const place = { leave: () => undefined }

/** An unlimited number of places. */
export const freePlaces: LogPlaces = { search: () => place, tail: () => place }
