import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { applyChanges, checkChanges } from './apply.ts'
import { kubeconfigFiles } from './files.ts'
import { type ContextSettings, planContext, planRemoval, planUse } from './plan-changes.ts'

const platform = 'https://kapis.test'
const settings: ContextSettings = {
  name: 'kapis',
  cluster: { url: platform, ca: '' },
  platform,
  command: ['node', 'kapis.js'],
  home: '',
  isOverwriting: false,
}
const io = {
  out: () => undefined,
  err: () => undefined,
  env: {},
  signal: new AbortController().signal,
  version: '0',
}
const args = (name: string) => `
      - kapis.js
      - get-token
      - "--server"
      - https://kapis.test
      - "--context"
      - ${name}`
const exec = (name: string) => `- user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: node
      args:${args(name)}
      interactiveMode: Never
      provideClusterInfo: false
      installHint: "the kapis executable was moved or removed: run \`kapis login\` again."
  name: ${name}
`
const cluster = `- cluster:
    server: https://kapis.test
  name: kapis
`
const context = `- context:
    cluster: kapis
    user: kapis
  name: kapis
`
const whole = `apiVersion: v1
kind: Config
clusters:
${cluster}users:
${exec('kapis')}contexts:
${context}current-context: kapis
`

describe('the context of a login', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-kubeconfig-'))
    file = join(folder, 'config')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const read = (name = 'config') => readFileSync(join(folder, name), 'utf8')
  const write = (text: string, name = 'config') => writeFileSync(join(folder, name), text)
  const add = (more: Partial<ContextSettings> = {}, paths: readonly string[] = [file]) =>
    applyChanges(paths, config => planContext(config, { ...settings, ...more }), io)

  it('is written as a whole kubeconfig if no file exists, and only once', async () => {
    await add()
    expect(read()).to.equal(whole)
    await add()
    expect(read()).to.equal(whole)
    expect(readdirSync(folder)).to.deep.equal(['config'])
  })

  it('is not lost when other logins are written concurrently', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map(name => add({ name })))
    for (const name of names)
      expect(read()).to.include(`- context:\n    cluster: ${name}\n    user: ${name}\n`)
    expect(readdirSync(folder)).to.deep.equal(['config'])
  })

  it('keeps fields that other programs have added to its entries', async () => {
    const added = whole
      .replace(
        '    server',
        '    tls-server-name: "on" # sni\n    proxy-url: http://p\n    certificate-authority: /x\n    server',
      )
      .replace('    user: kapis', '    user: kapis\n    namespace: "y"')
      .replace(
        '      interactiveMode',
        '      env: [{name: HTTPS_PROXY, value: "1"}, {name: KAPIS_HOME, value: /old}]\n      interactiveMode',
      )
    write(added)
    await add({ cluster: { url: platform, ca: 'PEM' }, command: ['/new/node', 'kapis.js'] })
    expect(read()).to.equal(
      added
        .replace('    certificate-authority: /x\n', '')
        .replace(
          '    server: https://kapis.test\n',
          '    server: https://kapis.test\n    certificate-authority-data: UEVN\n',
        )
        .replace('command: node', 'command: /new/node')
        .replace(
          '{name: HTTPS_PROXY, value: "1"}, {name: KAPIS_HOME, value: /old}',
          '{name: HTTPS_PROXY, value: "1"}',
        ),
    )
  })

  it('adds the login to a context that an older version wrote', async () => {
    write(whole.replace(/\n {6}- "--context"\n {6}- kapis/, ''))
    await add()
    expect(read()).to.equal(whole)
  })

  it('is written to the files of KUBECONFIG that have its entries, as kubectl does', async () => {
    const names = ['none', 'first', 'second', 'third']
    const paths = names.map(name => join(folder, name))
    write('# first\n', 'first')
    write(`contexts:\n${context}users:\n${exec('kapis').replace('command: node', 'command: old')}`, 'second')
    write(`clusters:\n${cluster}contexts:\n${context}`, 'third')
    await add({}, paths)
    expect(read('first')).to.equal('# first\napiVersion: v1\nkind: Config\ncurrent-context: kapis\n')
    expect(read('second')).to.equal(`contexts:\n${context}users:\n${exec('kapis')}`)
    expect(read('third')).to.equal(`clusters:\n${cluster}contexts:\n${context}`)
    expect(readdirSync(folder)).to.have.members(['first', 'second', 'third'])
  })

  it('is written to the last file of KUBECONFIG if none exists', async () => {
    await add({}, [join(folder, 'a'), join(folder, 'b')])
    expect(readdirSync(folder)).to.deep.equal(['b'])
  })

  const other = 'https://other.test'
  const foreign: readonly [string, string, string][] = [
    [
      'a context',
      `contexts:\n- name: kapis\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster: {server: ${other}}\n`,
      `context "kapis" in FILE belongs to ${other}`,
    ],
    [
      'a context of a login at another server',
      whole.replaceAll(platform, other),
      `context "kapis" in FILE belongs to ${other}`,
    ],
    [
      'a cluster',
      `clusters:\n- name: kapis\n  cluster: {server: ${other}}\n`,
      `cluster "kapis" in FILE belongs to ${other}`,
    ],
    ['a user', 'users:\n- name: kapis\n  user: {token: t}\n', 'user "kapis" in FILE has other credentials'],
  ]
  for (const [what, text, message] of foreign)
    it(`does not replace ${what} of another server without --overwrite`, async () => {
      write(text)
      const failed = await add().then(() => '', String)
      const hint = ': choose another name with --context, or replace it with --overwrite'
      expect(failed).to.equal(`Error: ${message.replace('FILE', file)}${hint}`)
      expect(read()).to.equal(text)
      await add({ isOverwriting: true })
      expect(read()).to.include('server: https://kapis.test')
      await add()
    })

  it('does not change a file that kubectl cannot load', async () => {
    const cases: readonly [string, string][] = [
      ['users:\n- name: a\n- name: a\n', 'duplicate name "a" in users'],
      ['users:\n- name: no\n', 'users[0].name is not a string'],
      ['users: x\n', 'users is not a list'],
      ['- a\n', 'the file is not a mapping'],
      ['users:\n- user: {as-user-extra: {a: b}}\n', 'users[0].user.as-user-extra.a is not a list'],
      ['kind: Pod\n', 'kind "Pod" is not Config'],
      ['contexts:\n- context: {namespace: 012}\n', 'contexts[0].context.namespace is not a string'],
      ['users:\n- user: {token: 12}\n', 'users[0].user.token is not a string'],
      ['users:\n- user: {client-key-data: x}\n', 'users[0].user.client-key-data is not base64'],
      ['users:\n- user: {as-groups: a}\n', 'users[0].user.as-groups is not a list'],
      ['users:\n- user: {exec: {env: [{value: 1}]}}\n', 'users[0].user.exec.env[0].value is not a string'],
      [
        'clusters:\n- cluster: {insecure-skip-tls-verify: "true"}\n',
        'clusters[0].cluster.insecure-skip-tls-verify is not a boolean',
      ],
      ['preferences: []\n', 'preferences is not a mapping'],
      [
        'a: [\n',
        'Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1',
      ],
    ]
    for (const [text, why] of cases) {
      write(text)
      const failed = await checkChanges([file], config => planContext(config, settings), io).then(
        () => '',
        String,
      )
      expect(failed).to.equal(`Error: invalid kubeconfig ${file}: ${why}; kubectl cannot load it either`)
      expect(read()).to.equal(text)
    }
  })

  it('becomes the current context, and is removed at logout with the entries that only it uses', async () => {
    const mine = `# mine
clusters:
- name: shared
  cluster: {server: ${platform}}
contexts:
- name: other
  context: {cluster: shared, user: other}
- name: kapis # ours
  context: {cluster: shared, user: kapis}
users:
${exec('kapis')}- name: other
  user: {token: t}
current-context: other
`
    write(mine)
    await applyChanges([file], config => planUse(config, 'kapis', platform), io)
    expect(read()).to.equal(mine.replace('current-context: other', 'current-context: kapis'))
    await applyChanges([file], config => planUse(config, 'other', platform), io)
    await applyChanges([file], config => planRemoval(config, 'other', platform), io)
    expect(read(), 'contexts of others stay').to.equal(
      mine.replace('current-context: other', 'current-context: kapis'),
    )
    await applyChanges([file], config => planRemoval(config, 'kapis', platform), io)
    expect(read()).to.equal(
      mine
        .replace('- name: kapis # ours\n  context: {cluster: shared, user: kapis}\n', '')
        .replace(exec('kapis'), '')
        .replace('current-context: other', 'current-context: ""'),
    )
  })
})

describe('kubeconfigFiles', () => {
  it('returns the files that kubectl uses', () => {
    const env = { KUBECONFIG: ['', 'a', 'b', 'a', ''].join(delimiter) }
    expect(kubeconfigFiles(env)).to.deep.equal(['a', 'b'])
    expect(kubeconfigFiles(env, 'c')).to.deep.equal(['c'])
    expect(kubeconfigFiles({ KUBECONFIG: '' })).to.satisfy(([file]: [string]) =>
      file.endsWith('/.kube/config'),
    )
    expect(() => kubeconfigFiles({ KUBECONFIG: delimiter })).to.throw(
      'invalid KUBECONFIG: it contains no file name',
    )
  })
})
