// Values of a record of the log API, as the page shows them.

/**
 * Removes the escape sequences of terminals. Other control characters, and those that change the
 * direction of text, become U+FFFD.
 */
export const readable = text =>
  text
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g, '')
    .replace(/\r?\n$/, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')

/** Parses JSON with log records. Integers that a number would round become text. */
export const parseRecords = text =>
  JSON.parse(text, (_name, value, context) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? (context?.source ?? value)
      : value,
  )

/** The fields with the origin of a line. */
export const originNames = ['namespace', 'pod', 'container']

// A field of the line with one of these names has another name in the query language.
const reservedName = /^(?:fields\.)*(?:log|namespace|pod|container|host|docker_id|case|workload|time|labels\..*)$/s

export const fieldsOf = record =>
  Object.entries(record.fields ?? {}).map(([name, value]) => [
    reservedName.test(name) ? `fields.${name}` : name,
    value,
  ])

export const textOf = value => (typeof value === 'object' ? JSON.stringify(value) : String(value))

const levelNames = ['level', 'severity', 'log.level', 'levelname', 'lvl']
const levelInText = /\b(FATAL|PANIC|CRIT(?:ICAL)?|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b|^([FEWID])\d{4} /i

/** Returns the level of a line: that of a field, else the first in its text, else ''. */
export function levelOf(record) {
  const [, value] = fieldsOf(record).find(([name]) => levelNames.includes(name.toLowerCase())) ?? []
  if (value !== undefined) return textOf(value)
  const [, word, klog] = levelInText.exec(readable(record.log ?? '').slice(0, 200)) ?? []
  return (word ?? klog ?? '').toLowerCase()
}
