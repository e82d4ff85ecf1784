import { expect } from 'chai'
import { variables } from './env.ts'
import { FlagError, readFlags } from './flags.ts'

const program = { name: 'kapis-apiserver', summary: 'kapis-apiserver.', version: '1.2.3', listens: true }
const read = (...argv: readonly string[]) => readFlags(argv, program)

describe('readFlags', () => {
  const level = (value: string) => ({ flags: { KAPIS_LOG_LEVEL: value } })
  const taken: readonly [readonly string[], { configFile?: string; flags?: Record<string, string> }][] = [
    [[], {}],
    [['--config', 'a.yaml'], { configFile: 'a.yaml' }],
    [['--config=a=b.yaml'], { configFile: 'a=b.yaml' }],
    [['--config', 'a', '--log-level=debug', '--config', 'b'], { configFile: 'b', ...level('debug') }],
    [
      ['--kubeconfig', 'k', '--bind-address=::', '--secure-port', '6443'],
      { flags: { KAPIS_KUBECONFIG: 'k', KAPIS_LISTEN_ADDRESS: '::', KAPIS_LISTEN_PORT: '6443' } },
    ],
    [['-v', '0'], level('info')],
    [['--v=3'], level('info')],
    [['-v=4'], level('debug')],
    [['-v6'], level('debug')],
    [['--v', '10'], level('debug')],
    [['-v=4', '--log-level', 'warn'], level('warn')],
  ]
  for (const [argv, { configFile, flags = {} }] of taken) {
    it(`reads ${JSON.stringify(argv)}`, () => {
      expect(read(...argv)).to.deep.equal({ configFile, flags })
    })
  }

  it('prints the version', () => {
    expect(read('--config', 'a', '--version')).to.deep.equal({ print: 'kapis-apiserver 1.2.3\n' })
  })

  it('prints help with every flag and every variable', () => {
    for (const flag of ['--help', '-h']) {
      const { print = '' } = read(flag)
      expect(print).to.match(/^usage: kapis-apiserver \[OPTION\]…\n\nkapis-apiserver\.\n/)
      const flags = ['--config FILE', '--kubeconfig FILE', '--bind-address IP', '--secure-port PORT']
      for (const word of [...flags, '--log-level LEVEL', '-v, --v NUMBER', '--help, -h', '--version'])
        expect(print).to.include(`\n  ${word} `)
      for (const { name } of variables()) expect(print).to.match(new RegExp(`^  ${name} +\\w`, 'm'))
    }
  })

  it('has no address and port flags for a program without a listener', () => {
    const listener = { ...program, listens: false }
    expect(readFlags(['--help'], listener).print).to.not.match(/--secure-port|--bind-address/)
    expect(() => readFlags(['--secure-port=1'], listener)).to.throw(FlagError, '--secure-port: unknown')
  })

  const allowed =
    'supported: --config FILE, --kubeconfig FILE, --bind-address IP, --secure-port PORT, --log-level LEVEL, -v, --v NUMBER, --help, --version'
  const refused: readonly [readonly string[], string][] = [
    [['--verbose'], `--verbose: unknown; ${allowed}`],
    [['-v=x'], '-v x: must be a number'],
    [['--v', '-1'], '--v -1: must be a number'],
    [['-v'], 'flag needs an argument: -v NUMBER'],
    [['a.yaml'], `a.yaml: unknown; ${allowed}`],
    [[''], `: unknown; ${allowed}`],
    [['--constructor=x'], `--constructor: unknown; ${allowed}`],
    [['--config'], 'flag needs an argument: --config FILE'],
    [['--config='], 'flag needs an argument: --config FILE'],
    [['--log-level'], 'flag needs an argument: --log-level LEVEL'],
  ]
  for (const [argv, message] of refused) {
    it(`rejects ${JSON.stringify(argv)}`, () => {
      expect(() => read(...argv)).to.throw(FlagError, message)
    })
  }
})
