import type { Random } from './random.ts'

const nsPerSecond = 1_000_000_000n
const zones = ['Z', '+02:00', '-07:00', '+05:30'] as const
// VictoriaLogs finds nothing for weeks that do not begin before they end, and for Sunday alone.
const weeks = [
  '[Mon, Fri]',
  '(Sun, Sat)',
  '[Sun, Sat]',
  '[Fri, Sat]',
  '[Wed, sat)',
  '(Thu, Sat]',
  '[Saturday, Sat]',
  '[Sun, Tuesday)',
] as const

/** Generates filters by time, with bounds within the first 20 minutes of lines. */
export function makeTimeFilter(r: Random, firstNs: bigint): string {
  const moment = () => firstNs + BigInt(r.below(1200)) * nsPerSecond + BigInt(r.below(1e9))
  const from = moment()
  const to = from + BigInt(1 + r.below(900)) * nsPerSecond
  const hour = new Date(Number(firstNs / 1_000_000n)).getUTCHours()
  const clock = () =>
    `${String((hour + r.below(2)) % 24).padStart(2, '0')}:${r.one(['00', '05', '12', '30'])}`
  const zone = () => r.one(['', '', ' offset 2h', ' offset -30m'])
  const ends = (open: string, close: string) =>
    [r.one(['[', '(']), open, ', ', close, r.one([']', ')'])].join('')
  return `_time:${r.one<() => string>([
    () => makeDate(r, moment()),
    () => `${r.one(['>', '>=', '<', '<='])}${makeDate(r, moment())}`,
    () => ends(makeTime(r, from), makeTime(r, to)),
    () => ends(makeTime(r, from), makeTime(r, to)),
    () => `${ends(makeTime(r, from + 3600n * nsPerSecond), makeTime(r, to + 3600n * nsPerSecond))} offset 1h`,
    () => `${makeDate(r, from - 90n * nsPerSecond)} offset -1m30s`,
    // Bounds that depend on the time of the query are far from all lines, if those are recent.
    () =>
      isRecent(firstNs)
        ? r.one(['1d', '>1m', '<1w', '2d offset 10s', 'offset 1s', '[now-1d, now]', '[2020, now)', '>=2020'])
        : '>=2020',
    () => `day_range${ends(clock(), clock())}${zone()}`,
    () => `week_range${r.one(weeks)}${zone()}`,
  ])()}`
}

function isRecent(ns: bigint): boolean {
  return BigInt(Date.now()) * 1_000_000n - ns < 86_400n * nsPerSecond
}

/** Writes a time, also less precisely, which denotes a range. */
function makeDate(r: Random, ns: bigint): string {
  const zone = r.one(zones)
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  const shiftMs = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
  const iso = new Date(Number(ns / 1_000_000n) + shiftMs).toISOString()
  const fraction = String(ns % nsPerSecond).padStart(9, '0')
  const text = r.one([
    ...[iso.slice(0, 10), iso.slice(0, 13), iso.slice(0, 16), iso.slice(0, 16), iso.slice(0, 19)],
    ...[3, 6, 9].map(digits => `${iso.slice(0, 19)}.${fraction.slice(0, digits)}`),
  ] as [string, ...string[]])
  return r.one([`${text}${zone}`, `"${text}${zone}"`])
}

function makeTime(r: Random, ns: bigint): string {
  return r.one([makeDate(r, ns), makeDate(r, ns), String(ns / nsPerSecond), String(ns / 1_000_000n)])
}
