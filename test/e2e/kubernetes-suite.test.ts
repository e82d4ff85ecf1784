import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createAdminToken } from '../../hack/controlplane/admin-token.ts'
import { childEnvironment } from '../../hack/controlplane/settings.ts'
import { runKubectlSuite } from '../kubernetes/suites.ts'
import { output, scratch, setting } from './run.ts'

// Runs a part of the suite. `make test-kubernetes` runs all groups with a comparison to
// kube-apiserver, and the end-to-end tests of Kubernetes.
describe("groups of kubectl's command test suite through Kapis", () => {
  after(async () => {
    const namespaces = await output('kubectl', ['get', 'namespaces', '-o', 'name'])
    const made = namespaces.split('\n').filter(name => name.startsWith('namespace/namespace-'))
    const others = ['clusterrolebinding/kapis-tests', 'node/127.0.0.1']
    await output('kubectl', ['delete', '--wait=false', '--ignore-not-found', ...made, ...others])
    await output('kubectl', ['-n', 'kube-system', 'delete', 'serviceaccount', 'kapis-tests'])
  })

  it('pass', async () => {
    const folder = join(scratch, 'kubectl-suite')
    const binFolder = join(folder, 'bin')
    mkdirSync(binFolder, { recursive: true })
    const kubectl = execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim()
    symlinkSync(kubectl, join(binFolder, 'kubectl'))
    const env = { ...childEnvironment(), KUBECONFIG: setting('KUBECONFIG') }
    const server = { name: 'kapis', url: setting('KAPIS_URL'), token: createAdminToken(kubectl, env) }
    const groups = 'kubectl_auth_whoami kubectl_server_side_apply certificates'
    const results = await runKubectlSuite({ folder, binFolder, env }, server, groups)
    expect([...results]).to.have.deep.members([
      ['run_kubectl_auth_whoami_tests', 'passed'],
      ['run_kubectl_server_side_apply_tests', 'passed'],
      ['run_certificates_tests', 'passed'],
    ])
  }).timeout(240_000)
})
