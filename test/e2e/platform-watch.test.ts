import { expect } from 'chai'
import { accessToken, group, kubectl, kubectlOutput, makeNamespace, uniqueName, version } from './cluster.ts'
import { eventually, sendAs } from './http.ts'
import { watch } from './watch-client.ts'

const namespace = uniqueName('watch')
const path = `/kapis/${group}/${version}/namespaces/${namespace}/configmaps`

describe('watches of platform lists', function () {
  this.timeout(60_000)

  let token = ''
  const running: { stop: () => void }[] = []
  const begin = (query: string) => {
    const watching = watch(token, `${path}?watch=true&${query}`)
    running.push(watching)
    return watching
  }
  const make = (name: string, ...labels: readonly string[]) =>
    kubectlOutput('-n', namespace, 'create', 'configmap', name, '--from-literal=a=b').then(() =>
      labels.length === 0 ? '' : kubectlOutput('-n', namespace, 'label', 'configmap', name, ...labels),
    )

  before(async () => {
    token = await accessToken()
    await makeNamespace(namespace, ['default'])
    await make('red-1', 'colour=red')
    await make('blue-1', 'colour=blue')
  })

  after(async () => {
    for (const each of running) each.stop()
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('send objects that enter, change in and leave the filtered list', async () => {
    const watching = begin('labelSelector=colour%3Dred')
    await eventually(async () => {
      expect(watching.names()).to.deep.equal(['ADDED red-1'])
    }, 20_000)
    expect(watching.state.code).to.equal(200)
    const first = watching.events[0]?.object
    expect(first).to.include({ kind: 'ConfigMap', apiVersion: 'v1' })
    expect(first?.metadata.selfLink).to.equal(`/api/v1/namespaces/${namespace}/configmaps/red-1`)

    await kubectlOutput('-n', namespace, 'label', 'configmap', 'blue-1', 'colour=red', '--overwrite')
    await kubectlOutput('-n', namespace, 'annotate', 'configmap', 'red-1', 'touched=yes')
    await kubectlOutput('-n', namespace, 'label', 'configmap', 'red-1', 'colour=green', '--overwrite')
    await kubectlOutput('-n', namespace, 'delete', 'configmap', 'blue-1')
    const expected = ['ADDED red-1', 'ADDED blue-1', 'MODIFIED red-1', 'DELETED red-1', 'DELETED blue-1']
    await eventually(async () => {
      expect(watching.names()).to.deep.equal(expected)
    }, 20_000)
  })

  it('send the requested fields, and filter by object fields', async () => {
    await make('small')
    const watching = begin('fieldSelector=data.a%3Db&q=small&fields=metadata.name,data')
    await eventually(async () => {
      expect(watching.events).to.deep.equal([
        { type: 'ADDED', object: { metadata: { name: 'small' }, data: { a: 'b' } } },
      ])
    }, 20_000)
  })

  it('continue from a version, with bookmarks, and end at their timeout', async () => {
    const list = JSON.parse((await sendAs(token, `/kapi/v1/namespaces/${namespace}/configmaps?limit=1`)).body)
    const from = list.metadata.resourceVersion
    await make('later')
    const watching = begin(`name=later&resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=4`)
    await eventually(async () => {
      expect(watching.state.isEnded).to.equal(true)
    }, 20_000)
    expect(watching.names().slice(0, 1)).to.deep.equal(['ADDED later'])
    expect(watching.events.at(-1)?.type).to.equal('BOOKMARK')
    expect(Number(watching.events.at(-1)?.object.metadata.resourceVersion)).to.be.greaterThan(Number(from))
  })

  it('report an expired version in an event, as in Kubernetes', async () => {
    const watching = begin('resourceVersion=1')
    await eventually(async () => {
      expect(watching.state.isEnded).to.equal(true)
    }, 20_000)
    expect(watching.events).to.have.length(1)
    expect(watching.events[0]).to.deep.include({ type: 'ERROR' })
    expect(watching.events[0]?.object).to.include({ kind: 'Status', code: 410, reason: 'Expired' })
  })
})
