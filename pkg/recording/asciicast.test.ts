import { expect } from 'chai'
import { toAsciicast } from './asciicast.ts'
import { session } from './fixtures.ts'
import { toRecord } from './session.ts'

const start = (given = {}) => ({
  record: toRecord(session(given), 'start', JSON.stringify(session(given)), 1n),
})
const output = (...events: readonly unknown[]) => ({
  record: toRecord(session(), 'output', events.map(event => JSON.stringify(event)).join('\n'), 2n),
})
type Page = readonly ReturnType<typeof start>[]

async function cast(...pages: readonly Page[]): Promise<readonly unknown[]> {
  async function* all() {
    yield* pages
  }
  let text = ''
  for await (const part of toAsciicast(all())) text += part
  const lines = text.split('\n')
  expect(lines.pop() ?? '').to.equal('')
  return lines.map(line => JSON.parse(line))
}
const header = {
  ...{ version: 2, width: 80, height: 24, timestamp: 1_795_780_800 },
  ...{ title: 'jane: exec shop/web-0/web', command: 'sh -c ls' },
}

describe('toAsciicast', () => {
  it('starts with the size of the terminal', async () => {
    expect(
      await cast([start(), output([0.1, 'r', '120x40'], [0.2, 'o', 'a'])], [output([1, 'o', 'b'])]),
    ).to.deep.equal([
      { ...header, width: 120, height: 40 },
      [0.1, 'r', '120x40'],
      [0.2, 'o', 'a'],
      [1, 'o', 'b'],
    ])
  })

  it('has a default size if none was recorded, even if the output resembles a size', async () => {
    const spoof = '[0,"r","1x1"]'
    expect(await cast([start(), output([0, 'o', spoof])])).to.deep.equal([header, [0, 'o', spoof]])
  })

  it('has only a header for a session without output', async () => {
    expect(await cast([start({ command: [], container: '' })])).to.deep.equal([
      { version: 2, width: 80, height: 24, timestamp: 1_795_780_800, title: 'jane: exec shop/web-0' },
    ])
  })

  it('is empty without records', async () => {
    expect(await cast()).to.deep.equal([])
    expect(await cast([])).to.deep.equal([])
  })
})
