import { expect } from 'chai'
import {
  accessToken,
  collectionPath,
  group,
  kubectlOutput,
  makeNamespace,
  sendToKube,
  tokenOf,
  uniqueName,
  version,
} from './cluster.ts'
import { sendAs } from './http.ts'

const namespace = uniqueName('consistent')
const rounds = 4
const deployments = `namespaces/${namespace}/deployments`
const native = `/apis/apps/v1/${deployments}`
const claims = 'persistentvolumeclaims'

function deployment(name: string): string {
  const labels = { app: name }
  const containers = [{ name, image: 'none' }]
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  })
}

describe('reads without a resource version (KEP-2340)', function () {
  this.timeout(60_000)
  let token = ''
  let kubeToken = ''
  before(async () => {
    await makeNamespace(namespace, ['writer'])
    await kubectlOutput(
      'create',
      'clusterrolebinding',
      namespace,
      '--clusterrole=cluster-admin',
      `--serviceaccount=${namespace}:writer`,
    )
    kubeToken = await tokenOf(namespace, 'writer')
    token = await accessToken()
    // The first request for a kind starts its watch.
    await sendAs(token, `/apis/${group}/${version}/${claims}`)
    await sendAs(token, '/kapi/apps/v1/deployments')
  })
  after(() =>
    kubectlOutput('delete', `clusterrolebinding/${namespace}`, `namespace/${namespace}`, '--wait=false'),
  )

  const write = async (method: string, path: string, body?: string) => {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    }
    const response = await sendToKube(kubeToken, path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    expect(response.code, response.body).to.be.within(200, 201)
    return JSON.parse(response.body)
  }
  const read = async (path: string) => {
    const response = await sendAs(token, path)
    return { code: response.code, object: JSON.parse(response.body) }
  }
  const namesIn = async (path: string): Promise<readonly string[]> => {
    const { code, object } = await read(path)
    expect(code, JSON.stringify(object)).to.equal(200)
    return object.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  }

  const bases = [`/apis/${group}/${version}`, '/kapi/apps/v1', `/kapi/${group}/${version}`]
  for (const [at, base] of bases.entries()) {
    it(`return what was written before, and nothing that was deleted: ${base}`, async () => {
      const writer = async (writerName: string) => {
        for (let i = 0; i < rounds; i++) {
          const name = `${writerName}-${i}`
          await write('POST', native, deployment(name))
          const lists = [`${base}/${deployments}`, `${base}/deployments`]
          for (const list of lists) expect(await namesIn(list)).to.include(name)
          const patched = await write(
            'PATCH',
            `${native}/${name}`,
            `{"metadata":{"labels":{"round":"${i}"}}}`,
          )
          const { object } = await read(`${base}/${deployments}/${name}`)
          // The resourceVersion may be newer: the controller of Deployments writes their status.
          expect(Number(object.metadata.resourceVersion)).to.be.at.least(
            Number(patched.metadata.resourceVersion),
          )
          expect(object.metadata.labels).to.deep.equal({ round: String(i) })
          await write('DELETE', `${native}/${name}`)
          expect((await read(`${base}/${deployments}/${name}`)).code).to.equal(404)
          for (const list of lists) expect(await namesIn(list)).not.to.include(name)
        }
      }
      await Promise.all([writer(`a${at}`), writer(`b${at}`)])
    })
  }

  it('respond immediately at the version of a kind without changes', async () => {
    // A write to another kind increases the version of all lists.
    await kubectlOutput('create', 'configmap', 'later', '-n', namespace)
    const { metadata } = JSON.parse((await sendToKube(kubeToken, `/api/v1/${claims}`)).body)
    const newer = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`
    const since = performance.now()
    const { code, object } = await read(`/apis/${group}/${version}/${claims}?${newer}`)
    expect(code, JSON.stringify(object)).to.equal(200)
    expect(Number(object.metadata.resourceVersion)).to.be.at.least(Number(metadata.resourceVersion))
    const watch = `watch=true&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1&${newer}`
    const events = (await sendAs(token, `/apis/${group}/${version}/${claims}?${watch}`)).body
    expect(events).to.contain('"k8s.io/initial-events-end":"true"')
    // A read waits up to 0.1 s for kube-apiserver. Waiting for a bookmark would take up to a
    // minute.
    expect(performance.now() - since).to.be.lessThan(10_000)
  })

  it('are paginated in one consistent state', async () => {
    const { object } = await read(`${collectionPath}?limit=1`)
    expect(object.items).to.have.length(1)
    const rest = await read(`${collectionPath}?limit=100&continue=${object.metadata.continue}`)
    expect(rest.object.metadata.resourceVersion).to.equal(object.metadata.resourceVersion)
  })
})
