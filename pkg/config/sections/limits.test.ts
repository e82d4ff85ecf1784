import { expect } from 'chai'
import { parseConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'

function parse(input: object) {
  try {
    return { limits: parseConfig({ limits: input }).config.limits, problems: [] }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
}

describe('limits', () => {
  it('reads every field, also from strings', () => {
    const given = { requestsInFlight: 0, mutatingRequestsInFlight: '5', requestSeconds: 10 }
    const rest = {
      longRunningRequests: 7,
      connections: 9,
      stallSeconds: 8,
      headersSeconds: '5',
      headerKilobytes: 64,
      parameterKilobytes: '4',
    }
    const { limits, problems } = parse({ ...given, ...rest })
    expect(limits).to.deep.equal({
      ...{ requestsInFlight: 0, mutatingRequestsInFlight: 5, requestSeconds: 10 },
      ...{ longRunningRequests: 7, stallSeconds: 8, headersSeconds: 5, headerKilobytes: 64 },
      ...{ parameterKilobytes: 4, connections: 9 },
    })
    expect(problems).to.deep.equal([])
  })

  const bounds: readonly (readonly [key: string, min: number, max: number])[] = [
    ['requestsInFlight', 0, 1_000_000],
    ['mutatingRequestsInFlight', 0, 1_000_000],
    ['longRunningRequests', 0, 1_000_000],
    ['connections', 0, 1_000_000],
    ['requestSeconds', 1, 3_600],
    ['stallSeconds', 1, 3_600],
    ['headersSeconds', 1, 300],
    ['headerKilobytes', 16, 16_384],
    ['parameterKilobytes', 1, 16_384],
  ]
  for (const [key, min, max] of bounds) {
    it(`accepts ${key} from ${min} to ${max}`, () => {
      for (const given of [min, max]) expect(parse({ [key]: given }).problems).to.deep.equal([])
      for (const given of [min - 1, max + 1, 1.5, true])
        expect(parse({ [key]: given }).problems).to.deep.equal([
          {
            path: `limits.${key}`,
            message: `must be a whole number from ${min} to ${max}, not ${JSON.stringify(given)}`,
          },
        ])
    })
  }
})
