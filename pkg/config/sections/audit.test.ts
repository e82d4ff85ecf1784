import { expect } from 'chai'
import { parseConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'

function parse(input: object) {
  try {
    return { audit: parseConfig({ audit: input }).config.audit, problems: [] }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
}

describe('audit', () => {
  it('reads every field', () => {
    const given = {
      ...{
        path: '-',
        policyFile: '/etc/kapis/audit.yaml',
        maxMegabytes: 1,
        maxBackups: 0,
        bufferEvents: 100,
      },
      whenFull: 'refuse',
    }
    expect(parse(given)).to.deep.equal({ audit: given, problems: [] })
  })

  const invalid: readonly (readonly [given: object, key: string, message: string])[] = [
    [{ path: 1 }, 'path', 'must be a string'],
    [{ maxMegabytes: 0 }, 'maxMegabytes', 'must be a whole number from 1 to 100000, not 0'],
    [{ maxBackups: -1 }, 'maxBackups', 'must be a whole number from 0 to 1000, not -1'],
    [{ bufferEvents: 0 }, 'bufferEvents', 'must be a whole number from 1 to 1000000, not 0'],
    [{ whenFull: 'wait' }, 'whenFull', 'must be one of drop, refuse'],
    [
      { file: 'x' },
      'file',
      `unknown; supported: path, policyFile, maxMegabytes, maxBackups, bufferEvents, whenFull`,
    ],
  ]
  for (const [given, key, message] of invalid) {
    it(`rejects ${JSON.stringify(given)}`, () => {
      expect(parse(given).problems).to.deep.equal([{ path: `audit.${key}`, message }])
    })
  }
})
