import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { expect } from 'chai'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'
import { accessToken, kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { apply, groupDomain, logIn, platformPath, sendAs } from './http.ts'
import { sendRaw } from './raw-https.ts'
import { setting } from './run.ts'

const namespace = uniqueName('attacks')
const resources = `/kapis/resources.${groupDomain}/v1alpha3`
const iam = `/kapis/iam.${groupDomain}/v1alpha2`

// Known vulnerabilities of similar products, tried as an attacker would; docs/security.md lists
// each with its test.
describe('attacks known from other projects', function () {
  this.timeout(60_000)
  let owner = ''
  let unprivileged = ''
  let admin = ''

  before(async () => {
    await makeNamespace(namespace, ['owner', 'unprivileged'])
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'everything', namespace } }
    await apply({ ...rbac, kind: 'Role', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] })
    await apply({
      ...rbac,
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'everything' },
      subjects: [{ kind: 'ServiceAccount', name: 'owner', namespace }],
    })
    owner = await tokenOf(namespace, 'owner')
    unprivileged = await tokenOf(namespace, 'unprivileged')
    admin = await accessToken()
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))

  describe('a low-privileged user who names an object of another user (CVE-2024-46528)', () => {
    const others = [
      platformPath,
      `${resources}/namespaces`,
      `${resources}/secrets`,
      `${resources}/persistentvolumes`,
      `${resources}/namespaces/${setting('KAPIS_NAMESPACE')}/secrets`,
      `${resources}/namespaces/${setting('KAPIS_NAMESPACE')}/secrets/kapis-serving`,
      `${resources}/namespaces/default/pods`,
      `${resources}/namespaces/default/configmaps`,
      `${resources}/componenthealth`,
      `${resources}/users`,
      `${iam}/users`,
      `${iam}/users/${setting('KAPIS_USER')}`,
      `${iam}/users/${setting('KAPIS_USER')}/loginrecords`,
      `/kapis/resources.${groupDomain}/v1alpha2/users/${setting('KAPIS_USER')}/kubeconfig`,
      `/kapis/resources.${groupDomain}/v1alpha2/namespaces/default/quotas`,
      `/kapis/resources.${groupDomain}/v1alpha2/components`,
      `/apis/iam.${groupDomain}/v1alpha2/users`,
      `/api/v1/namespaces/${setting('KAPIS_NAMESPACE')}/secrets`,
      '/api/v1/secrets',
      '/metrics',
      '/metrics/oauth',
    ]
    for (const path of others) {
      it(`cannot read ${path}`, async () => {
        for (const who of [unprivileged, owner]) {
          const { code, body } = await sendAs(who, path)
          if (code === 200) {
            // Lists of the whole cluster are narrowed rather than rejected, to the objects that the
            // caller may list.
            expect(path).to.be.oneOf([`${resources}/namespaces`, `${resources}/secrets`])
            const { items } = JSON.parse(body)
            type Item = { metadata: { name: string; namespace?: string } }
            const own = items.filter(
              ({ metadata }: Item) => (metadata.namespace ?? metadata.name) === namespace,
            )
            expect(own, path).to.deep.equal(items)
          } else {
            expect([code, JSON.parse(body).kind], body).to.deep.equal([403, 'Status'])
          }
        }
      })
    }

    it('cannot write it either, with any method', async () => {
      const user = `${iam}/users/${setting('KAPIS_USER')}`
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
        for (const path of [user, `${user}/password`]) {
          const headers = { 'content-type': 'application/json', 'content-length': '2' }
          const { code } = await sendAs(owner, path, { method, headers, body: '{}' })
          expect(code, `${method} ${path}`).to.be.oneOf([403, 404, 405])
        }
      }
      expect((await logIn(setting('KAPIS_USER'), setting('KAPIS_PASSWORD'))).code).to.equal(200)
    })
  })

  it('a permission in one namespace does not extend to cluster-scoped objects (CVE-2019-11247)', async () => {
    const kinds = [
      'nodes',
      'persistentvolumes',
      'users',
      'workspaces',
      'customresourcedefinitions',
      'clusterroles',
    ]
    for (const root of [resources, `/apis/resources.${groupDomain}/v1alpha3`, iam]) {
      for (const kind of kinds) {
        for (const path of [
          `${root}/namespaces/${namespace}/${kind}`,
          `${root}/namespaces/${namespace}/${kind}/x`,
        ]) {
          const { code, body } = await sendAs(owner, path)
          expect(code, path).to.equal(404)
          expect(JSON.parse(body)).to.not.have.property('items')
        }
      }
    }
  })

  describe('a rejected upgrade leaves no open connection to the upstream server (CVE-2018-1002105)', () => {
    const pods = () => `/api/v1/namespaces/${namespace}/pods`
    const upgrade = (path: string, token: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
    // The hidden request would have the credential of Kapis and could impersonate any user.
    const second =
      'GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\nImpersonate-User: admin\r\nImpersonate-Group: system:masters\r\n\r\n'
    const cases: readonly (readonly [what: string, first: () => string, codes: readonly number[]])[] = [
      ['without permission', () => upgrade(`${pods()}/x/exec?command=id`, unprivileged), [403]],
      ['for a missing object', () => upgrade(`${pods()}/x/exec?command=id`, owner), [404]],
      ['for a request without an upgrade', () => upgrade(pods(), owner), [200, 400]],
      [
        'to the aggregated API',
        () => upgrade(`/apis/resources.${groupDomain}/v1alpha3/nodes`, admin),
        [200, 400],
      ],
      ['with an invalid token', () => upgrade(`${pods()}/x/exec`, 'x'), [401]],
    ]
    for (const [what, first, codes] of cases) {
      it(what, async () => {
        const spoken = await sendRaw(first() + second)
        expect(spoken.codes.length, spoken.text).to.be.within(1, 2)
        expect(codes, spoken.text).to.include(spoken.codes[0])
        // The hidden request is either dropped or rejected as unauthenticated.
        expect(spoken.codes.slice(1), spoken.text).to.be.deep.oneOf([[], [401]])
        expect(spoken.text).to.not.include('SecretList')
      })
    }
  })

  describe('a caller who impersonates the front proxy', () => {
    const spoof = 'X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\nConnection: close\r\n\r\n'
    const send = `GET ${platformPath} HTTP/1.1\r\nHost: a\r\n${spoof}`

    it('is rejected without a certificate', async () => {
      expect((await sendRaw(send)).codes).to.deep.equal([401])
    })

    it('is rejected with the correct name from another CA', async () => {
      const ca = createCa({ commonName: 'front-proxy-ca', validityDays: 1 })
      const client = { usages: ['client'] as const, validityDays: 1 }
      for (const commonName of ['front-proxy-client', 'kapis-front-proxy', 'system:admin']) {
        const pair = issueCertificate(ca, { ...client, commonName, organizations: ['system:masters'] })
        const { codes } = await sendRaw(send, 1_000, { cert: pair.certPem, key: pair.keyPem })
        expect(codes, commonName).to.deep.equal([401])
      }
    })

    it('is treated as the user of a client certificate', async () => {
      const view = ['config', 'view', '--raw', '--minify', '--flatten', '-o']
      const read = async (what: string) =>
        Buffer.from(await kubectlOutput(...view, `jsonpath={.users[0].user.${what}}`), 'base64').toString()
      const cert = await read('client-certificate-data')
      const key = await read('client-key-data')
      const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
      const who =
        'POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${review.length}\r\nX-Remote-User: someone-else\r\nConnection: close\r\n\r\n${review}`
      const { codes, text } = await sendRaw(who, 5_000, { cert, key })
      expect(codes).to.deep.equal([201])
      expect(text).to.not.include('someone-else')
    })

    it('cannot remove the identity with the Connection header', async () => {
      for (const name of [
        'Impersonate-User',
        'X-Remote-User',
        'Authorization',
        'Audit-Id',
        'Content-Length',
      ]) {
        const bytes = `GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${unprivileged}\r\nConnection: close, ${name}\r\n\r\n`
        expect((await sendRaw(bytes)).codes, name).to.deep.equal([403])
      }
    })
  })

  describe('tokens', () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const bomb = () => {
      const head = part({ alg: 'dir', enc: 'A256GCM', zip: 'DEF', typ: 'at+jwt' })
      return `${head}..${'A'.repeat(16)}.${deflateRawSync(Buffer.alloc(20_000_000)).toString('base64url')}.${'A'.repeat(22)}`
    }
    const hostile: readonly (readonly [what: string, make: () => string])[] = [
      ['an encrypted payload that would decompress to 20 MB (CVE-2024-28176)', bomb],
      [
        '10 million rounds of PBES2 (CVE-2022-36083)',
        () => {
          const head = part({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', p2c: 10_000_000, p2s: 'AAAA' })
          return `${head}.AAAA.AAAA.AAAA.AAAA`
        },
      ],
      [
        'alg none in a spelling that a deny list misses',
        () => `${part({ alg: 'nOnE', typ: 'at+jwt' })}.${part({ sub: 'admin' })}.`,
      ],
      [
        'a kid that is a path (kid injection)',
        () =>
          `${part({ alg: 'HS256', typ: 'at+jwt', kid: '../../../../dev/null' })}.${part({ sub: 'admin' })}.AAAA`,
      ],
      [
        'a URL of their key',
        () =>
          `${part({ alg: 'RS256', typ: 'at+jwt', jku: `${setting('KAPIS_URL')}/healthz`, x5u: 'file:///etc/passwd' })}.${part({ sub: 'admin' })}.AAAA`,
      ],
      [
        'a duplicate claim',
        () =>
          `${Buffer.from('{"alg":"ES256","alg":"none"}').toString('base64url')}.${part({ sub: 'admin' })}.`,
      ],
      [
        'unlimited nesting',
        () =>
          `${Buffer.from('['.repeat(6_000)).toString('base64url')}.${Buffer.from('{"a":'.repeat(3_000)).toString('base64url')}.AAAA`,
      ],
    ]
    for (const [what, make] of hostile) {
      it(`with ${what} are rejected quickly`, async () => {
        const token = make()
        for (const path of [platformPath, '/api/v1/secrets', '/oauth/userinfo']) {
          const began = performance.now()
          const { code, body } = await sendAs(token, path)
          expect([code, JSON.parse(body).reason], path).to.deep.equal([401, 'Unauthorized'])
          expect(performance.now() - began).to.be.below(15_000)
        }
        const hint = await sendAs(
          admin,
          `/oauth/logout?id_token_hint=${encodeURIComponent(token.slice(0, 8_000))}`,
          {
            headers: { 'x-e2e': 'hint' },
          },
        ).catch(() => undefined)
        expect(hint?.code ?? 400).to.be.below(500)
        admin = await accessToken()
      })
    }
  })

  describe('user input in queries and logs is never executed', () => {
    const payloads = [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what Log4j would look up
      '${jndi:ldap://127.0.0.1:1389/a}',
      '"}}],"must_not":[{"match_all":{}}',
      "' OR '1'='1",
      '*)(uid=*',
      '{"$gt":""}',
      '__proto__',
      '<script>alert(1)</script>',
      'a\r\n{"level":30,"msg":"forged-line"}',
      '\u001b[2J\u001b]0;title\u0007',
    ]
    for (const payload of payloads) {
      it(JSON.stringify(payload), async () => {
        const word = encodeURIComponent(payload)
        const queries = [
          `/kapis/tenant.${groupDomain}/v1alpha2/logs?q=${word}`,
          `/kapis/tenant.${groupDomain}/v1alpha2/logs?log_query=${word}`,
          `/kapis/tenant.${groupDomain}/v1alpha2/logs?namespaces=${word}`,
          `${platformPath}?name=${word}`,
          `${platformPath}?labelSelector=${word}`,
          `${platformPath}?sortBy=${word}`,
          `${resources}/namespaces?name=${word}`,
        ]
        for (const query of queries) {
          // A caller without permission gets no lines, regardless of the query.
          const { code, body } = await sendAs(unprivileged, query)
          expect(code, `${query} ${body}`).to.be.oneOf([200, 400, 403])
          if (code !== 200) continue
          const { query: found, totalItems = found?.total } = JSON.parse(body)
          expect(totalItems, query).to.equal(0)
        }
        expect((await logIn(payload, 'wrong-password')).code).to.be.oneOf([400, 401])
      })
    }

    it('logs have one line for each record, and no input creates a line', () => {
      const folder = setting('KAPIS_LOGS_DIR')
      for (const name of readdirSync(folder).filter(file => /^(apiserver|oauth)\.log$/.test(file))) {
        const lines = readFileSync(join(folder, name), 'utf8').split('\n')
        expect(lines.filter(line => line.startsWith('{"level":30,"msg":"forged-line"'))).to.deep.equal([])
        expect(lines.some(line => line.includes('\u001b'))).to.equal(false)
      }
    })
  })

  it('no path leads to identity providers or components directly (SSRF)', async () => {
    const hosts = [
      'http://169.254.169.254/latest/meta-data',
      'https://127.0.0.1:2379/version',
      '@evil.example.org',
    ]
    for (const host of hosts) {
      const word = encodeURIComponent(host)
      for (const path of [
        `/oauth/authorize?redirect_uri=${word}`,
        `/oauth/login?return_to=${word}`,
        `/oauth/login/${word}`,
      ]) {
        const { code, headers } = await sendAs(admin, path)
        // The login page ignores the parameter and does not redirect to the other host.
        expect(code, path).to.be.within(200, 499)
        const front = new URL(setting('KAPIS_URL')).hostname
        const { hostname } = new URL(headers.location ?? '/', setting('KAPIS_URL'))
        expect(hostname, path).to.equal(front)
      }
    }
  })
})
