import { insufficientStorage, Status, unavailable } from '../../../apierrors/status.ts'
import { sqliteCode } from '../partition/schema.ts'

const [ioError, full] = [10, 13]
// SQLITE_IOERR_WRITE and SQLITE_IOERR_SHMSIZE, with which SQLite reports an exceeded disk quota or
// file size limit.
const noRoom = new Set([ioError | (3 << 8), ioError | (19 << 8)])

/** Converts a write error to a Status: 507 if the disk is full, otherwise 503. */
export function toWriteError(error: unknown): Status {
  if (error instanceof Status) return error
  if (sqliteCode(error) === full || isNoRoom(error)) {
    return insufficientStorage('the log volume is full; the batch was not stored', error)
  }
  return unavailable('failed to write to the log store', error)
}

function isNoRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return noRoom.has(Number(error.errcode))
  return 'code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code))
}
