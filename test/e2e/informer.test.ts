import { join } from 'node:path'
import { expect } from 'chai'
import { group, kubectlOutput, nodeNames } from './cluster.ts'
import { buildGo, goBuildTimeoutMs, hasGo } from './go-program.ts'
import { follow, scratch } from './run.ts'

const source = join(import.meta.dirname, '..', 'informer')
const program = join(scratch, 'informer')
const updates = 20
const label = 'test/seq'
const maxSyncMs = 15_000

type Line = {
  type: string
  name?: string
  sequence?: number
  count?: number
  milliseconds?: number
  watchList?: boolean
}

describe('a client-go informer', () => {
  let names: readonly string[]
  let node: string

  before(async function () {
    this.timeout(goBuildTimeoutMs)
    if (!(await hasGo('the informer'))) this.skip()
    names = await nodeNames()
    node = names[0] ?? ''
    await buildGo('the informer', ['build', '-o', program, '.'], source)
  })

  for (const watchList of [true, false]) {
    it(`syncs and receives every update in order, with WatchList ${watchList ? 'on' : 'off'}`, async function () {
      this.timeout(90_000)
      await kubectlOutput('label', 'node', node, `${label}-`)
      const flags = [`-group=${group}`, `-node=${node}`, `-updates=${updates}`, `-watchlist=${watchList}`]
      const informer = follow(program, [...flags, '-timeout=60s'])
      try {
        const synced = parseLine(await informer.line(line => parseLine(line).type === 'synced', 30_000))
        expect(synced).to.include({ count: names.length, watchList })
        expect(synced.milliseconds).to.be.lessThan(maxSyncMs)
        for (let i = 1; i <= updates; i++) {
          await kubectlOutput('label', 'node', node, `${label}=${i}`, '--overwrite')
        }
        await informer.line(line => parseLine(line).sequence === updates)
        expect(await informer.ended).to.equal(0)
        const observed = informer.lines
          .map(parseLine)
          .filter(({ name, sequence }) => name === node && sequence)
        const numbers = [...new Set(observed.map(({ sequence }) => sequence))]
        expect(numbers).to.deep.equal(Array.from({ length: updates }, (_, i) => i + 1))
      } finally {
        await informer.stop()
        await kubectlOutput('label', 'node', node, `${label}-`)
      }
    })
  }
})

function parseLine(line: string): Line {
  return JSON.parse(line)
}
