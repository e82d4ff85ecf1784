import type { LogPlaces } from './places.ts'

const place = { leave: () => undefined }

/** As many places as anyone asks for. */
export const freePlaces: LogPlaces = { search: () => place, tail: () => place }
