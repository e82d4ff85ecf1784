import type { LogPlaces } from './places.ts'

const place = { leave: () => undefined }

/** An unlimited number of places. */
export const freePlaces: LogPlaces = { search: () => place, tail: () => place }
