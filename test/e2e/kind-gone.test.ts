import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { expect } from 'chai'
import { accessToken, group, kubectl, kubectlOutput, uniqueName, version } from './cluster.ts'
import { apply, askAs, eventually } from './http.ts'
import { crd } from './lists-platform-kinds.ts'
import { setting } from './run.ts'

const domain = `${uniqueName('gone')}.example.com`
const widgets = `widgets.${domain}`
const paths = [`/kapis/${domain}/v1/widgets`, `/kapis/${group}/${version}/widgets`]

/** A watch that keeps what it was told, and whether it was ended. */
function watch(token: string, path: string) {
  const state = { text: '', isEnded: false }
  const options = {
    headers: { authorization: `Bearer ${token}` },
    ca: readFileSync(setting('KAPIS_CA')),
    agent: false,
  }
  const req = request(new URL(`${path}?watch=true`, setting('KAPIS_URL')), options, res => {
    res.on('data', chunk => {
      state.text += chunk
    })
    res.on('end', () => {
      state.isEnded = true
    })
    res.on('error', () => undefined)
  })
  req.on('error', () => undefined)
  req.end()
  return { state, stop: () => req.destroy() }
}

describe('a kind that goes and comes back', function () {
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

  it('ends its watches, is 404, and can be watched anew', async () => {
    const token = await accessToken()
    await make('first')
    const begin = (path: string) => {
      const watching = watch(token, path)
      running.push(watching)
      return watching.state
    }
    const tells = (states: readonly { text: string }[], name: string) =>
      eventually(async () => {
        for (const { text } of states) expect(text).to.contain(`"name":"${name}"`)
      }, 20_000)
    await eventually(async () => {
      expect((await askAs(token, paths[0] ?? '')).code).to.equal(200)
    }, 20_000)

    const before = paths.map(begin)
    await tells(before, 'first')
    await kubectlOutput('delete', 'crd', widgets)
    await eventually(async () => {
      expect(before.map(({ isEnded }) => isEnded)).to.deep.equal([true, true])
    }, 5_000)
    for (const path of paths) expect((await askAs(token, path)).code).to.equal(404)

    await make('second')
    await eventually(async () => {
      for (const path of paths) expect((await askAs(token, path)).body).to.contain('"name":"second"')
    }, 20_000)
    await tells(paths.map(begin), 'second')
  })
})
