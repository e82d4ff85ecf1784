import { expect } from 'chai'
import { environment } from './env.ts'
import { FlagError, readFlags } from './flags.ts'

const program = { name: 'kapis-apiserver', summary: 'The front.', version: '1.2.3' }
const read = (...argv: readonly string[]) => readFlags(argv, program)

describe('readFlags', () => {
  const taken: readonly [readonly string[], { configFile?: string; logLevel?: string }][] = [
    [[], {}],
    [['--config', 'a.yaml'], { configFile: 'a.yaml' }],
    [['--config=a=b.yaml'], { configFile: 'a=b.yaml' }],
    [['--config', 'a', '--log-level=debug', '--config', 'b'], { configFile: 'b', logLevel: 'debug' }],
  ]
  for (const [argv, { configFile, logLevel }] of taken) {
    it(`reads ${JSON.stringify(argv)}`, () => {
      expect(read(...argv)).to.deep.equal({ configFile, logLevel })
    })
  }

  it('prints the version', () => {
    expect(read('--config', 'a', '--version')).to.deep.equal({ print: 'kapis-apiserver 1.2.3\n' })
  })

  it('prints help with every flag and every variable', () => {
    for (const flag of ['--help', '-h']) {
      const { print = '' } = read(flag)
      expect(print).to.match(/^usage: kapis-apiserver \[OPTION\]…\n\nThe front\.\n/)
      for (const word of ['--config FILE', '--log-level LEVEL', '--help, -h', '--version'])
        expect(print).to.include(`\n  ${word} `)
      for (const { name } of environment) expect(print).to.match(new RegExp(`^  ${name} +\\w`, 'm'))
    }
  })

  const allowed = 'allowed are --config FILE, --log-level LEVEL, --help, --version'
  const refused: readonly [readonly string[], string][] = [
    [['--verbose'], `--verbose: unknown; ${allowed}`],
    [['-v=4'], `-v: unknown; ${allowed}`],
    [['a.yaml'], `a.yaml: unknown; ${allowed}`],
    [[''], `: unknown; ${allowed}`],
    [['--constructor=x'], `--constructor: unknown; ${allowed}`],
    [['--config'], '--config: needs a value: --config FILE'],
    [['--config='], '--config: needs a value: --config FILE'],
    [['--log-level'], '--log-level: needs a value: --log-level LEVEL'],
  ]
  for (const [argv, message] of refused) {
    it(`refuses ${JSON.stringify(argv)}`, () => {
      expect(() => read(...argv)).to.throw(FlagError, message)
    })
  }
})
