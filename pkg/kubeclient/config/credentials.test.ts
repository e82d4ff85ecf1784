import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readKubeconfig, readServiceAccount } from './credentials.ts'

describe('readServiceAccount', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-account-'))
  after(() => rmSync(folder, { recursive: true }))
  const put = (token: string) => {
    writeFileSync(join(folder, 'token'), token)
    writeFileSync(join(folder, 'ca.crt'), 'PEM')
  }

  it('finds kube-apiserver by the environment variables of the pod', () => {
    const cases = [
      ['10.96.0.1', 'https://10.96.0.1:443'],
      ['fd00::1', 'https://[fd00::1]:443'],
    ]
    for (const [host, server] of cases) {
      const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' }
      expect(readServiceAccount(env, folder).server).to.equal(server)
    }
  })

  it('follows a rotated token', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '1' }
    const { options } = readServiceAccount(env, folder)
    for (const token of ['first', 'second']) {
      put(`${token}\n`)
      expect(await options()).to.deep.equal({ ca: 'PEM', headers: { Authorization: `Bearer ${token}` } })
    }
  })

  it('reports that it runs outside of a pod', () => {
    expect(() => readServiceAccount({}, folder)).to.throw(
      'not running in a Pod and no kubeconfig given (set --kubeconfig or KAPIS_KUBECONFIG)',
    )
  })
})

describe('readKubeconfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-credentials-'))
  after(() => rmSync(folder, { recursive: true }))

  it('runs the exec plugin of a list of files, for the cluster of another file', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'T' },
    }
    writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, {
      mode: 0o700,
    })
    const exec = { apiVersion: credential.apiVersion, command: './plugin', interactiveMode: 'Never' }
    const context = { cluster: 'c', user: 'u' }
    const documents = {
      a: { contexts: [{ name: 'here', context }], users: [{ name: 'u', user: { exec } }] },
      b: { 'current-context': 'here', clusters: [{ name: 'c', cluster: { server: 'https://b:1' } }] },
    }
    const files = Object.entries(documents).map(([name, document]) => {
      writeFileSync(join(folder, name), JSON.stringify(document))
      return join(folder, name)
    })
    const { server, options } = readKubeconfig(files)
    expect(server).to.equal('https://b:1')
    expect((await options()).headers).to.deep.equal({ Authorization: 'Bearer T' })
    const [first = ''] = files
    expect(() => readKubeconfig([first])).to.throw(`kubeconfig ${first} has no current cluster`)
  })

  it('reads a context other than the current one, which must exist', () => {
    const file = join(folder, 'contexts')
    const names = ['one', 'two']
    const config = {
      'current-context': 'one',
      contexts: names.map(name => ({ name, context: { cluster: name, user: 'u' } })),
      clusters: names.map(name => ({ name, cluster: { server: `https://${name}:1` } })),
      users: [{ name: 'u', user: { token: 'T' } }],
    }
    writeFileSync(file, JSON.stringify(config))
    expect(readKubeconfig([file]).server).to.equal('https://one:1')
    expect(readKubeconfig([file], 'two').server).to.equal('https://two:1')
    for (const name of ['three', ''])
      expect(() => readKubeconfig([file], name)).to.throw(`context "${name}" does not exist in ${file}`)
  })
})
