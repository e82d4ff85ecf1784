import { compileRegex } from '../regex/compile.ts'
import { createValueTest } from './match-value.ts'
import { parseTime } from './numbers.ts'
import type { Filter, StreamMatcher } from './query.ts'
import { type Row, streamLabels } from './row.ts'

export type RowTest = (row: Row) => boolean

const nsPerDay = 86_400_000_000_000n
// 1970 began on a Thursday.
const firstDay = 4

export function createRowTest(filter: Filter): RowTest {
  switch (filter.op) {
    case 'all':
      return () => true
    case 'and': {
      const tests = filter.operands.map(createRowTest)
      return row => tests.every(test => test(row))
    }
    case 'or': {
      const tests = filter.operands.map(createRowTest)
      return row => tests.some(test => test(row))
    }
    case 'not': {
      const test = createRowTest(filter.operand)
      return row => !test(row)
    }
    case 'field':
      return createFieldTest(filter.field, createValueTest(filter.test))
    case 'time':
      return ofTime(time => time >= filter.startNs && time <= filter.endNs)
    case 'dayRange':
      return ofTime(time => {
        const ofDay = Number(remainder(time + BigInt(filter.offsetNs), nsPerDay))
        return ofDay >= filter.start && ofDay <= filter.end
      })
    case 'weekRange': {
      const { start, end, offsetNs } = filter
      return ofTime(time => {
        const shifted = time + BigInt(offsetNs)
        const day = (Number((shifted - remainder(shifted, nsPerDay)) / nsPerDay) + firstDay) % 7
        return start <= end ? day >= start && day <= end : day >= start || day <= end
      })
    }
    case 'stream': {
      const any = filter.any.map(all => all.map(createStreamTest))
      return row => any.some(all => all.every(test => test(row)))
    }
  }
}

function remainder(value: bigint, by: bigint): bigint {
  return ((value % by) + by) % by
}

function ofTime(test: (time: bigint) => boolean): RowTest {
  return row => {
    const time = parseTime(row.get('_time') ?? '')
    return time !== undefined && test(time)
  }
}

function createFieldTest(field: string, test: (value: string) => boolean): RowTest {
  if (!field.endsWith('*')) return row => test(row.get(field) ?? '')
  const prefix = field.slice(0, -1)
  return row => {
    for (const [name, value] of row) if (name.startsWith(prefix) && test(value)) return true
    return false
  }
}

function createStreamTest({ label, isNegated, test }: StreamMatcher): RowTest {
  const isOfStream = streamLabels.some(name => name === label)
  const passes =
    'values' in test
      ? (value: string) => test.values.includes(value)
      : compileRegex(test.source, true, 'strict')
  return row => passes(isOfStream ? (row.get(label) ?? '') : '') !== isNegated
}
