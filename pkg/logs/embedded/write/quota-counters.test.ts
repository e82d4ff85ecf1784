import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { countersFile, openQuotaCounters } from './quota-counters.ts'

const pageBytes = 4096
const many = new Map(Array.from({ length: 2_000 }, (_, i) => [`namespace-${i}`, i]))

describe('openQuotaCounters', () => {
  let folder: string
  let reports: string[]
  const open = () => openQuotaCounters(folder, message => void reports.push(message))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quota-counters-'))
    reports = []
    const counters = open()
    counters.save(1, many)
    counters.close()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** Damages everything but the first page, which is all that opening the file reads. */
  function damage(): void {
    const file = join(folder, countersFile)
    const fd = openSync(file, 'r+')
    writeSync(fd, Buffer.alloc(statSync(file).size - pageBytes, 0xa5), 0, undefined, pageBytes)
    closeSync(fd)
  }

  it('opens the file again after it could not be replaced', () => {
    damage()
    const counters = open()
    const file = join(folder, countersFile)
    rmSync(`${file}-wal`, { force: true })
    mkdirSync(`${file}-wal`)
    expect(() => counters.load(1)).to.throw()
    rmdirSync(`${file}-wal`)
    expect(counters.load(1)).to.deep.equal(new Map())
    counters.close()
  })

  it('returns the saved counters', () => {
    const counters = open()
    expect(counters.load(1)).to.deep.equal(many)
    expect(counters.load(2)).to.deep.equal(new Map())
    counters.close()
    expect(reports).to.deep.equal([])
  })

  for (const [what, use] of [
    ['read', counters => void expect(counters.load(1)).to.deep.equal(new Map())],
    ['written', counters => counters.save(1, new Map([['namespace-7', 8]]))],
  ] as readonly (readonly [string, (counters: ReturnType<typeof open>) => void])[]) {
    it(`starts at zero with a file whose damage shows when it is ${what}`, () => {
      damage()
      const counters = open()
      expect(reports).to.deep.equal([])
      use(counters)
      expect(reports).to.deep.equal([
        `${join(folder, countersFile)} is damaged; the quotas of namespaces start again at zero`,
      ])
      counters.save(1, new Map([['a', 5]]))
      expect(counters.load(1).get('a')).to.equal(5)
      counters.close()
      expect(reports).to.have.length(1)
    })
  }
})
