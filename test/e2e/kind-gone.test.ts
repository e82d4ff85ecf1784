import { expect } from 'chai'
import { accessToken, group, kubectl, kubectlOutput, uniqueName, version } from './cluster.ts'
import { apply, eventually, sendAs } from './http.ts'
import { crd } from './lists-platform-kinds.ts'
import { watch } from './watch-client.ts'

const domain = `${uniqueName('gone')}.example.com`
const widgets = `widgets.${domain}`
const paths = [`/kapis/${domain}/v1/widgets`, `/kapis/${group}/${version}/widgets`]

describe('a CRD that is deleted and created again', function () {
  this.timeout(90_000)

  const running: { stop: () => void }[] = []
  after(async () => {
    for (const each of running) each.stop()
    await kubectl('delete', 'crd', widgets, '--ignore-not-found', '--wait=false')
  })

  const make = async (name: string) => {
    await apply(crd(domain, 'v1', 'Widget', false))
    await kubectlOutput('wait', '--for=condition=Established', `crd/${widgets}`)
    await eventually(() => apply({ apiVersion: `${domain}/v1`, kind: 'Widget', metadata: { name } }), 20_000)
  }

  it('ends its watches, causes 404, and can be watched again', async () => {
    const token = await accessToken()
    await make('first')
    const begin = (path: string) => {
      const watching = watch(token, `${path}?watch=true`)
      running.push(watching)
      return watching
    }
    const receives = (watches: readonly { names: () => readonly string[] }[], name: string) =>
      eventually(async () => {
        for (const { names } of watches) expect(names()).to.include(`ADDED ${name}`)
      }, 20_000)
    await eventually(async () => {
      expect((await sendAs(token, paths[0] ?? '')).code).to.equal(200)
    }, 20_000)

    const before = paths.map(begin)
    await receives(before, 'first')
    await kubectlOutput('delete', 'crd', widgets)
    await eventually(async () => {
      expect(before.map(({ state }) => state.isEnded)).to.deep.equal([true, true])
    }, 5_000)
    for (const path of paths) expect((await sendAs(token, path)).code).to.equal(404)

    await make('second')
    await eventually(async () => {
      for (const path of paths) expect((await sendAs(token, path)).body).to.contain('"name":"second"')
    }, 20_000)
    await receives(paths.map(begin), 'second')
  })
})
