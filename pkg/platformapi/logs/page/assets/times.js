// Times of the pages, in seconds since the epoch.

const lastSecond = 9_999_999_999

const pad = number => String(number).padStart(2, '0')

/** Returns local time, as `<input type="datetime-local">` has it. */
export function toLocal(seconds) {
  const at = new Date(seconds * 1000)
  const date = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-')
  return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
}

/** Returns local time to show. */
export const toLocalText = seconds => toLocal(seconds).replace('T', ' ')

/** Returns a local time in UTC, for addresses that are opened in another time zone. */
export const toUtc = local => new Date(local).toISOString().replace('.000Z', 'Z')

/** Rounded up, so that lines of this second are included. */
export const nowSeconds = () => Math.ceil(Date.now() / 1000)

/** Returns the nearest time that the API accepts. */
export const clamp = seconds => Math.min(Math.max(seconds, 0), lastSecond)
