import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  accessToken,
  group,
  kubectl,
  kubectlJson,
  kubectlOutput,
  makeNamespace,
  sendToKapis,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { eventually, groupDomain, sendAs } from './http.ts'
import { output, scratch, setting } from './run.ts'

const namespace = uniqueName('quota')
const name = uniqueName('part')
const own = setting('KAPIS_NAMESPACE')

describe('components, quotas and public information', function () {
  this.timeout(60_000)

  let token = ''
  const json = async (path: string) => {
    const response = await sendAs(token, path)
    expect(response.code, response.body).to.equal(200)
    return JSON.parse(response.body)
  }

  before(async () => {
    token = await accessToken()
    await makeNamespace(namespace, ['default', 'unprivileged'])
    const labels = { app: name }
    const meta = (more: object) => ({ name, ...more })
    const items = [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: meta({ namespace: own }),
        spec: { selector: labels, ports: [{ port: 80 }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: meta({ namespace: own, labels }),
        spec: { nodeName: 'worker-1', containers: [{ name: 'main', image: 'example.org/x:1' }] },
      },
      ...['5', '3'].map((limit, i) => ({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: `quota-${i}`, namespace },
        spec: { hard: { 'count/configmaps': limit, 'requests.cpu': `${limit}00m` } },
      })),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace } },
    ]
    await output('kubectl', ['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    })
  })

  after(async () => {
    await kubectl('-n', own, 'delete', 'service', name)
    await kubectl('-n', own, 'delete', 'pod', name, '--force', '--grace-period=0')
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  for (const version of ['v1alpha3', 'v1alpha2']) {
    const base = `/kapis/${group}/${version}`

    it(`${version} returns as components Services and their pods, Kapis' own first`, async () => {
      const service: { metadata: { creationTimestamp: string } } = JSON.parse(
        await kubectlOutput('-n', own, 'get', 'service', name, '-o', 'json'),
      )
      const expected = {
        name,
        namespace: own,
        selfLink: `/api/v1/namespaces/${own}/services/${name}`,
        label: { app: name },
        startedAt: service.metadata.creationTimestamp,
        totalBackends: 1,
        healthyBackends: 1,
      }
      await eventually(
        async () => expect(await json(`${base}/components/${name}`)).to.deep.equal(expected) && undefined,
        20_000,
      )
      const all = await json(`${base}/components`)
      expect(all[0].namespace).to.equal(own)
      expect(all).to.deep.include(expected)
      const health = await json(`${base}/componenthealth`)
      expect(health.kubesphereStatus).to.deep.equal(all)
      const nodes = (await kubectlJson('get', 'nodes')) as { items: readonly unknown[] }
      expect(health.nodeStatus.totalNodes).to.equal(nodes.items.length)
    })

    it(`${version} returns 404 for an unknown component`, async () => {
      const response = await sendAs(token, `${base}/components/none`)
      expect(response.code).to.equal(404)
      expect(JSON.parse(response.body).message).to.equal(`components.${group} "none" not found`)
    })
  }

  it('quotas contain the usage and the tightest limit', async () => {
    await eventually(async () => {
      const { namespace: shown, data } = await json(`/kapis/${group}/v1alpha2/namespaces/${namespace}/quotas`)
      expect(shown).to.equal(namespace)
      expect(data.hard).to.deep.equal({ 'count/configmaps': '3', 'requests.cpu': '300m' })
      const tightest: { status: { used: object } } = JSON.parse(
        await kubectlOutput('-n', namespace, 'get', 'resourcequota', 'quota-1', '-o', 'json'),
      )
      expect(data.used).to.include({ ...tightest.status.used, 'count/pods': '0', 'count/secrets': '0' })
    }, 20_000)
    const whole = await json(`/kapis/${group}/v1alpha2/quotas`)
    const pods = (await kubectlJson('get', 'pods', '-A')) as { items: readonly unknown[] }
    expect(whole.data.used['count/pods']).to.equal(String(pods.items.length))
  })

  it('abnormal workloads are counted by status, in a namespace and in the cluster', async () => {
    const base = `/kapis/${group}/v1alpha2`
    const meta = (kind: string) => ({ name: `abnormal-${kind.toLowerCase()}`, namespace })
    const container = {
      name: 'main',
      image: 'example.org/x:1',
      resources: { requests: { cpu: '10m' } },
    }
    const workload = (kind: string, more: object) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: meta(kind),
      spec: {
        selector: { matchLabels: { app: kind } },
        template: {
          metadata: { labels: { app: kind } },
          // The pods remain pending: no node has this label. The quota requires a CPU request.
          spec: { nodeSelector: { none: 'such' }, containers: [container] },
        },
        ...more,
      },
    })
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: meta('Claim'),
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const items = [workload('Deployment', {}), workload('StatefulSet', { serviceName: 'none' }), claim]
    await output('kubectl', ['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    })
    const zero = { deployments: 0, statefulsets: 0, daemonsets: 0, persistentvolumeclaims: 0, jobs: 0 }
    const counts = { ...zero, deployments: 1, statefulsets: 1, persistentvolumeclaims: 1 }
    await eventually(async () => {
      expect(await json(`${base}/namespaces/${namespace}/abnormalworkloads`)).to.deep.equal({
        namespace,
        data: counts,
      })
    }, 20_000)
    const whole = await json(`${base}/abnormalworkloads`)
    expect(whole.namespace).to.equal('')
    for (const [plural, count] of Object.entries(counts)) expect(whole.data[plural]).to.be.at.least(count)
    await kubectlOutput('-n', namespace, 'scale', 'deployment/abnormal-deployment', '--replicas=0')
    await eventually(async () => {
      const { data } = await json(`${base}/namespaces/${namespace}/abnormalworkloads`)
      expect(data).to.deep.equal({ ...counts, deployments: 0 })
    }, 20_000)
  })

  const gone: readonly (readonly [path: string, method: string, message: string])[] = [
    ['git/verify', 'POST', 'use git ls-remote where the repository is needed'],
    [
      'registry/verify',
      'POST',
      `use POST /kapis/${group}/v1alpha3/namespaces/{namespace}/registrysecrets/{secret}/verify`,
    ],
    ['registry/blob', 'GET', `use GET /kapis/${group}/v1alpha3/namespaces/{namespace}/imageconfig`],
    ['users/ann/kubectl', 'GET', `with the kubeconfig of /kapis/${group}/v1alpha2/users/ann/kubeconfig`],
    ['namespaces/ns/router', 'PUT', '/apis/networking.k8s.io/v1/namespaces/ns/ingresses'],
    [
      'namespaces/ns/deployments/web/revisions/3',
      'GET',
      'use kubectl rollout history deployments/web -n ns --revision=3',
    ],
    ['namespaces/ns/pods/web/revisions/3', 'GET', 'pods have no revisions'],
    ['pods', 'GET', `use /kapis/${group}/v1alpha3`],
  ]
  for (const [path, method, message] of gone) {
    it(`v1alpha2 names the replacement of ${path}`, async () => {
      const response = await sendAs(token, `/kapis/${group}/v1alpha2/${path}`, { method })
      expect(response.code, response.body).to.equal(404)
      expect(JSON.parse(response.body)).to.include({ kind: 'Status', reason: 'NotFound', code: 404 })
      expect(JSON.parse(response.body).message).to.include(message)
    })
  }

  it('RBAC decides who may read components and quotas', async () => {
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    for (const path of [
      'v1alpha3/components',
      'v1alpha2/quotas',
      `v1alpha2/namespaces/${namespace}/quotas`,
      'v1alpha2/abnormalworkloads',
      `v1alpha2/namespaces/${namespace}/abnormalworkloads`,
    ]) {
      expect((await sendAs(unprivileged, `/kapis/${group}/${path}`)).code).to.equal(403)
    }
  })

  it('the default roles of kube-apiserver grant the same permissions here', async () => {
    const kinds = ['pods', 'resourcequotas', 'secrets', 'leases', 'roles', 'rolebindings']
    const given: Readonly<Record<string, readonly string[]>> = {
      view: ['pods', 'resourcequotas'],
      edit: ['pods', 'resourcequotas', 'secrets', 'leases'],
      admin: kinds,
    }
    for (const [role, own] of Object.entries(given)) {
      await kubectlOutput('-n', namespace, 'create', 'serviceaccount', role)
      const subject = `--serviceaccount=${namespace}:${role}`
      await kubectlOutput('-n', namespace, 'create', 'rolebinding', role, `--clusterrole=${role}`, subject)
      const bearer = await tokenOf(namespace, role)
      const may = async (path: string) => (await sendAs(bearer, path)).code === 200
      await eventually(async () => {
        const here = []
        const there = []
        for (const kind of kinds) {
          if (await may(`/kapis/${group}/v1alpha3/namespaces/${namespace}/${kind}`)) here.push(kind)
          const canI = await kubectl(
            '-n',
            namespace,
            'auth',
            'can-i',
            'list',
            kind,
            '--as',
            `system:serviceaccount:${namespace}:${role}`,
          )
          if (canI.stdout.startsWith('yes')) there.push(kind)
        }
        expect([here, there], role).to.deep.equal([own, own])
        for (const numbers of ['quotas', 'abnormalworkloads'])
          expect(await may(`/kapis/${group}/v1alpha2/namespaces/${namespace}/${numbers}`), numbers).to.equal(
            true,
          )
      }, 20_000)
    }
  })

  describe('registries', () => {
    const base = `/kapis/${group}/v1alpha3/namespaces/${namespace}`
    const loginFor = (host: string) =>
      JSON.stringify({
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name: 'login' },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: {
          '.dockerconfigjson': JSON.stringify({ auths: { [host]: { username: 'u', password: 'p' } } }),
        },
      })
    const refused: readonly (readonly [string, string, string | undefined, number, string])[] = [
      ['POST', '/registrysecrets/login/verify', '{', 400, 'the body must be a Secret as JSON'],
      [
        'POST',
        '/registrysecrets/login/verify',
        '{"metadata":{"name":"x"}}',
        400,
        'type of the Secret must be kubernetes.io/dockerconfigjson',
      ],
      [
        'POST',
        '/registrysecrets/login/verify',
        '{"type":"kubernetes.io/dockerconfigjson"}',
        400,
        'data[".dockerconfigjson"] of the Secret is not valid JSON',
      ],
      ['POST', '/registrysecrets/login/verify', loginFor(''), 400, 'the Secret has a login without a host'],
      [
        'POST',
        '/registrysecrets/login/verify',
        loginFor('127.0.0.1:1'),
        400,
        'the registry 127.0.0.1:1 resolves to an address that is not allowed; allow it with registries.trustedHosts',
      ],
      [
        'POST',
        '/registrysecrets/login/verify',
        loginFor('registry.invalid'),
        503,
        'the registry registry.invalid is not responding',
      ],
      ['GET', '/imageconfig', undefined, 400, 'the parameter image is required'],
      [
        'GET',
        '/imageconfig?image=No%20Name',
        undefined,
        400,
        'image "No Name" is not a valid image name; example: registry.example.com/team/app:1.2',
      ],
      ['GET', '/repositorytags', undefined, 400, 'empty repository name'],
      [
        'GET',
        '/repositorytags?repository=registry.invalid/a&secret=none',
        undefined,
        404,
        'secrets "none" not found',
      ],
    ]
    for (const [method, path, body, code, message] of refused) {
      it(`${method} ${path} is ${code}: ${message}`, async () => {
        const headers = { 'content-type': 'application/json' }
        const response = await sendAs(token, base + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        })
        expect({ code: response.code, message: JSON.parse(response.body).message }).to.deep.equal({
          code,
          message,
        })
      })
    }

    it('a Secret is used only for callers who may read it', async () => {
      const binding = [
        'create',
        'rolebinding',
        'viewer',
        '--clusterrole=view',
        `--serviceaccount=${namespace}:unprivileged`,
      ]
      await kubectlOutput('-n', namespace, ...binding)
      const viewer = await tokenOf(namespace, 'unprivileged')
      await eventually(async () => {
        const response = await sendAs(viewer, `${base}/imageconfig?image=registry.invalid/a&secret=login`)
        expect(response.code).to.equal(403)
        expect(JSON.parse(response.body).message).to.contain('secrets "login" is forbidden')
      }, 20_000)
    })
  })

  it('a kubeconfig for the caller reaches kube-apiserver through kapis-apiserver', async () => {
    const user = setting('KAPIS_USER')
    const { issuer } = JSON.parse((await sendToKapis('/oauth/.well-known/openid-configuration')).body)
    const { origin } = new URL(issuer)
    const base = `/kapis/${group}/v1alpha2/users`
    const response = await sendAs(token, `${base}/${user}/kubeconfig`)
    expect(response.code, response.body).to.equal(200)
    expect(response.headers['content-type']).to.equal('text/yaml; charset=utf-8')
    expect(response.body).to.not.contain('client-key')
    const file = join(scratch, 'own.kubeconfig')
    writeFileSync(file, response.body)
    const view = ['--kubeconfig', file, 'config', 'view', '--raw', '--flatten', '-o', 'json']
    const { users, clusters } = JSON.parse(await output('kubectl', view))
    expect(users[0].user.exec).to.deep.include({
      command: 'kapis',
      args: ['get-token', '--server', origin],
    })
    expect(clusters[0].cluster.server).to.equal(origin)
    // The file contains the CA of kapis-apiserver.
    const plain = ['--kubeconfig', '/dev/null', '--server', setting('KAPIS_URL'), '--token', token]
    const ca = join(scratch, 'own.ca')
    writeFileSync(ca, Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'))
    expect(
      await output('kubectl', [...plain, '--certificate-authority', ca, 'get', 'nodes', '-o', 'name']),
    ).to.contain('node/')
  })

  it('a kubeconfig for another user requires permission, and for an unknown user returns 404', async () => {
    const base = `/kapis/${group}/v1alpha2/users`
    const unprivileged = await tokenOf(namespace, 'unprivileged')
    expect((await sendAs(unprivileged, `${base}/${setting('KAPIS_USER')}/kubeconfig`)).code).to.equal(403)
    const response = await sendAs(token, `${base}/no-such-user/kubeconfig`)
    expect(response.code).to.equal(404)
    expect(JSON.parse(response.body).message).to.equal(`users.iam.${groupDomain} "no-such-user" not found`)
  })

  it('the version is public: API version, Kapis version, kube-apiserver version', async () => {
    const response = await sendToKapis('/kapis/version')
    expect(response.code).to.equal(200)
    const version = JSON.parse(response.body)
    expect(version).to.include({ gitVersion: 'v3.4.1', gitMajor: '3', gitMinor: '4' })
    expect(version.kapisVersion).to.match(/^v\d+\.\d+\.\d+$/)
    const native: { serverVersion: unknown } = JSON.parse(await kubectlOutput('version', '-o', 'json'))
    expect(version.kubernetes).to.deep.equal(native.serverVersion)
  })

  it('the login page configuration is public, and contains no secret', async () => {
    const path = `/kapis/config.${groupDomain}/v1alpha2/configs/oauth`
    const provider = uniqueName('directory')
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: provider,
        namespace: own,
        labels: { [`config.${groupDomain}/type`]: 'identityprovider' },
      },
      type: `config.${groupDomain}/identityprovider`,
      stringData: {
        'configuration.yaml': JSON.stringify({
          name: provider,
          displayName: 'The directory',
          type: 'LDAPIdentityProvider',
          mappingMethod: 'lookup',
          provider: {
            host: 'ldap.example.com:636',
            managerDN: 'cn=manager,dc=example,dc=com',
            managerPassword: 'hunter2-manager',
            userSearchBase: 'dc=example,dc=com',
            loginAttribute: 'uid',
            mailAttribute: 'mail',
          },
        }),
      },
    }
    await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(secret) })
    try {
      await eventually(async () => {
        const response = await sendToKapis(path)
        expect(response.code).to.equal(200)
        const { issuer, identityProviders, clients, ...lifetimes } = JSON.parse(response.body)
        expect(issuer).to.match(/^https:\/\/.*\/oauth$/)
        expect(clients.map(({ name: client }: { name: string }) => client)).to.include(
          setting('KAPIS_CLIENT_ID'),
        )
        expect(lifetimes).to.deep.equal({ accessTokenMaxAge: 7200e9, accessTokenInactivityTimeout: 7200e9 })
        expect(identityProviders).to.deep.include({
          name: provider,
          title: 'The directory',
          type: 'LDAPIdentityProvider',
          mappingMethod: 'lookup',
          disableLoginConfirmation: true,
          login: { kind: 'password', path: `/oauth/login/${provider}` },
          provider: {},
        })
        for (const inside of ['hunter2', 'ldap.example.com', 'manager'])
          expect(response.body).to.not.contain(inside)
      }, 20_000)
    } finally {
      await kubectl('-n', own, 'delete', 'secret', provider)
    }
    expect((await sendToKapis(path, { method: 'POST' })).code).to.equal(405)
  })

  it('the features are public', async () => {
    const response = await sendToKapis(`/kapis/config.${groupDomain}/v1alpha2/configs/configz`)
    expect(response.code).to.equal(200)
    const features: Readonly<Record<string, unknown>> = JSON.parse(response.body)
    expect(Object.values(features).every(feature => typeof feature === 'boolean')).to.equal(true)
    expect(features).to.include({ devops: false, terminal: false })
    const given = Object.keys(features).filter(name => features[name])
    expect(given).to.deep.equal(['authentication', 'authorization', 'events', 'kubernetes', 'logging'])
    expect((await sendToKapis(`/kapis/config.${groupDomain}/v1alpha2/configs/gpu/kinds`)).body).to.equal(
      '[]\n',
    )
    expect((await sendToKapis('/kapis/version', { method: 'POST' })).code).to.equal(405)
  })

  it('are served with a slash at the end too, as by KubeSphere', async () => {
    const configs = `/kapis/config.${groupDomain}/v1alpha2/configs`
    for (const path of ['/kapis/version', `${configs}/configz`, `${configs}/gpu/kinds`, `${configs}/oauth`]) {
      const [bare, slashed] = [await sendToKapis(path), await sendToKapis(`${path}/`)]
      expect([slashed.code, slashed.body], path).to.deep.equal([200, bare.body])
    }
  })
})
