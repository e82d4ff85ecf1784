import { badRequest } from '../../../apierrors/status.ts'
import { formatTime } from '../../rfc3339.ts'
import { toLowerCase, toUpperCase } from '../letter-case.ts'
import { formatDuration, formatIpv4, formatNumber, parseDuration, parseInteger } from '../numbers.ts'
import { syntaxError } from '../parse/tokenizer.ts'
import type { PatternStep } from '../query.ts'
import type { Row } from '../row.ts'
import { parseUnixTime } from '../timestamp.ts'

/** Conversions by option. They return a value unchanged if they cannot convert it. */
const options: Readonly<Record<string, (value: string) => string>> = {
  '': value => value,
  q: value => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll("'", '\\u0027'),
  uc: toUpperCase,
  lc: toLowerCase,
  duration: value => {
    const ns = parseInteger(value)
    return ns === undefined || ns >= 2n ** 63n ? value : formatDuration(ns)
  },
  duration_seconds: value => {
    const ns = parseDuration(value)
    return ns === undefined ? value : formatNumber(ns / 1e9)
  },
  time: value => {
    const ns = parseUnixTime(value)
    return ns === undefined ? value : formatTime(ns)
  },
  ipv4: value => {
    const address = parseUnsigned(value)
    return address === undefined || address > 0xffffffffn ? value : formatIpv4(Number(address))
  },
  urlencode: value => new URLSearchParams({ v: value }).toString().slice('v='.length).replaceAll('*', '%2A'),
  urldecode: value => new URLSearchParams(`v=${value.replaceAll('&', '%26')}`).get('v') ?? value,
  hexencode: value => Buffer.from(value).toString('hex').toUpperCase(),
  hexdecode: decodeHex,
  hexnumencode: value => {
    const number = parseUnsigned(value)
    return number === undefined ? value : number.toString(16).toUpperCase().padStart(16, '0')
  },
  // As in VictoriaLogs, a missing value is 0.
  hexnumdecode: value => (/^[\da-fA-F]{0,16}$/.test(value) ? String(BigInt(`0x0${value}`)) : value),
  base64encode: value => Buffer.from(value).toString('base64'),
  base64decode: value =>
    /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value.replaceAll(/[\r\n]/g, ''))
      ? Buffer.from(value, 'base64').toString()
      : value,
}

function parseUnsigned(value: string): bigint | undefined {
  return value.startsWith('-') ? undefined : parseInteger(value)
}

/** Decodes pairs of hexadecimal digits. Keeps other pairs of bytes. */
function decodeHex(value: string): string {
  const pairs =
    Buffer.from(value)
      .toString('latin1')
      .match(/[\s\S]{1,2}/g) ?? []
  const bytes = pairs.map(pair => Buffer.from(pair, /^[\da-fA-F]{2}$/.test(pair) ? 'hex' : 'latin1'))
  return Buffer.concat(bytes).toString()
}

/** Checks the options of a pattern. @throws Status 400 if one is unknown */
export function checkOptions(steps: readonly PatternStep[], position: number): void {
  const unknown = steps.find(({ option }) => !Object.hasOwn(options, option))
  if (unknown === undefined) return
  const supported = Object.keys(options)
    .filter(name => name !== '')
    .join(', ')
  throw syntaxError(
    `unsupported option ${JSON.stringify(unknown.option)} in the pattern; supported: ${supported}`,
    position,
  )
}

// Maximum length of a result, more than any line with its fields. Patterns can repeat fields, and
// pipes can repeat results.
const maxLength = 2 * 1024 * 1024

/** Formats a row with a pattern. @throws Status 400 if the result is too long */
export function formatPattern(steps: readonly PatternStep[], row: Row): string {
  let text = ''
  for (const { prefix, field, option } of steps) {
    text += prefix
    if (field !== '') text += options[option]?.(row.get(field) ?? '') ?? ''
    if (text.length > maxLength)
      throw badRequest(`query: the result of format is larger than ${maxLength / 1024 / 1024} MiB`)
  }
  return text
}
