import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { writeLogin } from '../../cmd/kapis/session/login-store.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import { run } from '../e2e/run.ts'

const typist = join(repository, 'test/peers/type.py')

describe('shell completion', function () {
  this.timeout(180_000)
  const folder = mkdtempSync(join(tmpdir(), 'kapis-completion-'))
  const home = join(folder, 'home')
  const env = { KAPIS_HOME: home, ZDOTDIR: folder, HOME: folder, NODE_NO_WARNINGS: '1' }
  const path = `PATH='${folder}':$PATH`

  before(() => {
    const program = `#!/bin/sh\nexec '${process.execPath}' '${join(repository, 'cmd/kapis/main.ts')}' "$@"\n`
    writeFileSync(join(folder, 'kapis'), program, { mode: 0o755 })
    writeFileSync(join(folder, 'bashrc'), `PS1='ready> '\n${path}\nsource <(kapis completion bash)\n`)
    const compinit = 'autoload -Uz compinit; compinit -u -D'
    writeFileSync(
      join(folder, '.zshrc'),
      `PS1='ready> '\n${path}\n${compinit}\nsource <(kapis completion zsh)\n`,
    )
    mkdirSync(join(folder, 'files'))
    writeFileSync(join(folder, 'files', 'my ca.crt'), '')
    const login = {
      url: 'https://kapis.test',
      ca: '',
      issuer: '',
      username: 'u',
      clientId: 'c',
      clientSecret: '',
      accessToken: 't',
      refreshToken: '',
      issuedAtMs: 0,
      expiresAtMs: 0,
    }
    for (const name of ['prod', 'gke:one', 'two words']) writeLogin(env, { ...login, name })
  })
  after(() => rmSync(folder, { recursive: true }))

  // A description, the typed text with a TAB at its end, and the completed line.
  const lines: readonly [string, string, string][] = [
    ['a command', 'kapis whoa\t', 'kapis whoami '],
    ['an option', 'kapis login --kube-c\t', 'kapis login --kube-ca '],
    ['an action', 'kapis login us\t', 'kapis login use '],
    ['a login', 'kapis login use pr\t', 'kapis login use prod '],
    ['a login of an option', 'kapis logout --context p\t', 'kapis logout --context prod '],
    ['a login with a colon', 'kapis whoami --context gke:o\t', 'kapis whoami --context gke:one '],
    ['a login with a blank', 'kapis whoami --context tw\t', 'kapis whoami --context two\\ words '],
    ['a value', 'kapis manifests --overlay op\t', 'kapis manifests --overlay opensearch '],
    [
      'a file',
      'kapis login --certificate-authority my\t',
      'kapis login --certificate-authority my\\ ca.crt ',
    ],
    ['a shell', 'kapis completion z\t', 'kapis completion zsh '],
  ]
  const shells: Readonly<Record<string, readonly string[]>> = {
    bash: ['bash', '--rcfile', join(folder, 'bashrc'), '-i'],
    zsh: ['zsh', '-i'],
  }
  for (const [shell, command] of Object.entries(shells))
    it(`completes in ${shell} ${lines.map(([what]) => what).join(', ')}`, async () => {
      // Ctrl-U deletes the line before the next one is typed.
      const steps = lines.map(([, keys], i) => [lines[i - 1]?.[2] ?? 'ready> ', `\u0015${keys}`])
      const stdin = JSON.stringify([...steps, [lines.at(-1)?.[2], '']])
      const options = { stdin, env, cwd: join(folder, 'files'), timeoutMs: 170_000 }
      const ran = await run('python3', [typist, ...command], options)
      expect(ran.code, `${ran.stdout}\n${ran.stderr}`).to.equal(0)
    })

  it('completes the same in fish', async () => {
    const source = 'kapis completion fish | source'
    const requests = lines.map(([, keys]) => `complete -C ${JSON.stringify(keys.trimEnd())}; echo ---`)
    const script = [`set -x PATH '${folder}' $PATH`, source, ...requests].join('\n')
    const options = { env, cwd: join(folder, 'files'), timeoutMs: 170_000 }
    const ran = await run('fish', ['--no-config', '-c', script], options)
    const found = ran.stdout.split('---\n').map(text => text.split('\n', 1)[0]?.split('\t', 1)[0])
    expect(found.slice(0, -1), ran.stderr).to.deep.equal([
      ...[
        'whoami',
        '--kube-ca',
        'use',
        'prod',
        'prod',
        'gke:one',
        'two words',
        'opensearch',
        'my ca.crt',
        'zsh',
      ],
    ])
  })
})
