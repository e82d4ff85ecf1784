import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import packageJson from '../package.json' with { type: 'json' }

function call(program: string, ...args: readonly string[]) {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, NODE_NO_WARNINGS: '1' }
  const script = join(import.meta.dirname, program, 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const flags = '--log-level LEVEL, -v, --v NUMBER, --help, --version'
for (const [program, allowed] of [
  ['apiserver', `--config FILE, --kubeconfig FILE, --bind-address IP, --secure-port PORT, ${flags}`],
  ['oauth', `--config FILE, --kubeconfig FILE, ${flags}`],
] as const) {
  const name = `kapis-${program}`
  describe(name, () => {
    it('prints its version', () => {
      const stdout = `${name} ${packageJson.version}\n`
      expect(call(program, '--version')).to.deep.equal({ status: 0, stdout, stderr: '' })
    })

    it('prints its usage', () => {
      const { status, stdout, stderr } = call(program, '--help')
      expect([status, stderr]).to.deep.equal([0, ''])
      expect(stdout).to.match(new RegExp(`^usage: ${name} \\[OPTION\\]…\n[\\s\\S]*wrong usage\\.\n$`))
    })

    it('exits with 2 after an invalid command line, and names what is allowed', () => {
      const stderr = `${name}: --verbose: unknown; supported: ${allowed}\n\`${name} --help\` shows its usage\n`
      expect(call(program, '--verbose')).to.deep.equal({ status: 2, stdout: '', stderr })
    })

    it('exits with 1 after an invalid configuration', () => {
      const stderr = 'invalid configuration:\n  logLevel: must be one of info, debug, warn, error\n'
      expect(call(program, '--log-level', 'loud')).to.deep.equal({ status: 1, stdout: '', stderr })
    })

    it('accepts a kubeconfig on its command line', () => {
      const { status, stderr } = call(program, '--kubeconfig=/nowhere/kubeconfig')
      expect(status).to.equal(1)
      expect(stderr).to.include("ENOENT: no such file or directory, open '/nowhere/kubeconfig'")
    })
  })
}

describe('kapis-apiserver', () => {
  it('accepts its port on its command line', () => {
    const stderr =
      'invalid configuration:\n  listen.port: must be a whole number from 0 to 65535, not "https"\n'
    const called = call('apiserver', '--bind-address=127.0.0.1', '--secure-port', 'https')
    expect(called).to.deep.equal({ status: 1, stdout: '', stderr })
  })
})
