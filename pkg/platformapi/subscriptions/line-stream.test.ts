import { expect } from 'chai'
import { createLineStream } from './line-stream.ts'

describe('createLineStream', () => {
  function start() {
    const lines: string[] = []
    const demand: (() => boolean)[] = []
    const stream = createLineStream('a', async (parts, isWanted) => {
      lines.push(Buffer.concat([...parts]).toString())
      demand.push(isWanted)
    })
    const write = (text: string) =>
      new Promise<void>((resolve, reject) => stream.write(text, error => (error ? reject(error) : resolve())))
    return { stream, lines, demand, write }
  }

  const cases: readonly (readonly [what: string, chunks: readonly string[], lines: readonly string[]])[] = [
    ['one line', ['{"x":1}\n'], ['{"id":"a","x":1}\n']],
    ['several lines', ['{"x":1}\n{"x":2}\n'], ['{"id":"a","x":1}\n', '{"id":"a","x":2}\n']],
    ['a line in several chunks', ['{', '"x"', ':1}', '\n'], ['{"id":"a","x":1}\n']],
    ['an incomplete line', ['{"x":1}\n{"x"'], ['{"id":"a","x":1}\n']],
  ]
  for (const [what, chunks, expected] of cases)
    it(`passes on ${what}`, async () => {
      const { lines, write } = start()
      for (const chunk of chunks) await write(chunk)
      expect(lines).to.deep.equal(expected)
    })

  it('requests no further lines after it was destroyed', async () => {
    const { stream, demand, write } = start()
    await write('{"x":1}\n')
    expect(demand.map(isWanted => isWanted())).to.deep.equal([true])
    stream.destroy()
    expect(demand.map(isWanted => isWanted())).to.deep.equal([false])
  })
})
