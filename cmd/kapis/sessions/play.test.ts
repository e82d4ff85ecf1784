import { expect } from 'chai'
import { playCast } from './play.ts'

const restore = '\x1b[0m\x1b[?25h\x1b[?1049l\n'

describe('playCast', () => {
  async function play(
    cast: string,
    pace = { speed: 1, idleLimit: 2 },
    signal = new AbortController().signal,
  ) {
    let out = ''
    const started = performance.now()
    const error = await playCast(cast, pace, { out: text => (out += text), signal }).then(() => '', String)
    return { out, error, ms: performance.now() - started }
  }
  const header = '{"version":2,"width":80,"height":24}\n'

  it('writes the output only, and restores the terminal', async () => {
    const { out, error } = await play(`${header}[0,"r","100x30"]\n[0,"o","a\\u001b[1m"]\n[0.05,"o","b"]\n`)
    expect([out, error]).to.deep.equal([`a\x1b[1mb${restore}`, ''])
  })

  it('keeps the speed of the recording, plays faster on request, and shortens long pauses', async () => {
    const cast = `${header}[0.2,"o","a"]\n[3600,"o","b"]\n`
    expect((await play(cast, { speed: 1, idleLimit: 0.3 })).ms).to.be.within(450, 2_000)
    expect((await play(cast, { speed: 10, idleLimit: 1 })).ms).to.be.within(100, 1_000)
  })

  it('stops on an interrupt', async () => {
    const { out, error } = await play(
      `${header}[60,"o","a"]\n`,
      { speed: 1, idleLimit: 60 },
      AbortSignal.timeout(20),
    )
    expect([out, error]).to.deep.equal([restore, 'InterruptedError: interrupted'])
  })

  for (const cast of ['', '{', '{"version":1}\n', '[]\n']) {
    it(`rejects ${JSON.stringify(cast)}`, async () =>
      expect((await play(cast)).error).to.equal('Error: the recording is not an asciicast of version 2'))
  }
})
