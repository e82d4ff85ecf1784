import { expect } from 'chai'
import { Status } from '../../../../apierrors/status.ts'
import { applyChanges, type MemberChange } from './member-changes.ts'

function setUp(
  failAt: number,
  error: unknown = new Status(403, 'Forbidden', 'no'),
  overAt = Number.POSITIVE_INFINITY,
) {
  const written: string[] = []
  const finished: string[] = []
  const change = (user: string, ...places: readonly string[]): MemberChange => ({
    user,
    steps: places.map(where => ({
      where,
      async run() {
        if (written.length === failAt) throw error
        written.push(`${user} ${where}`)
      },
    })),
  })
  const run = (changes: readonly MemberChange[]) =>
    applyChanges(changes, {
      finished: ({ user }) => finished.push(user),
      isOver: () => written.length === overAt,
    }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  return { change, run, written, finished }
}

describe('applyChanges', () => {
  it('stops writing when the request has ended', async () => {
    const { change, run, written, finished } = setUp(-1, undefined, 2)
    const error = await run([change('a', 'x'), change('b', 'x', 'y')])
    expect(String(error)).to.contain('the request has ended: 2 of 3 writes were made before')
    // A code of 500 or above would be logged as an error.
    expect(error).to.have.property('code', 408)
    expect([written, finished]).to.deep.equal([['a x', 'b x'], ['a']])
  })

  it('writes and reports each member', async () => {
    const { change, run, written, finished } = setUp(-1)
    expect(await run([change('a', 'x', 'y'), change('b', 'x')])).to.equal(undefined)
    expect(written).to.deep.equal(['a x', 'a y', 'b x'])
    expect(finished).to.deep.equal(['a', 'b'])
  })

  it('passes on an error before the first write', async () => {
    const error = new Status(403, 'Forbidden', 'no')
    const { change, run } = setUp(0, error)
    expect(await run([change('a', 'x')])).to.equal(error)
  })

  it('reports what was written and what was not', async () => {
    const { change, run, finished } = setUp(3)
    const error = await run([change('a', 'x', 'y'), change('b', 'x', 'y', 'z'), change('c', 'x')])
    expect(error)
      .to.be.instanceOf(Status)
      .and.deep.include({
        code: 403,
        reason: 'Forbidden',
        message: 'no: 3 of 6 writes were made before',
        details: {
          causes: [
            { reason: 'Done', field: '[0]', message: 'a: done: x, y; not done: nothing' },
            { reason: 'PartlyDone', field: '[1]', message: 'b: done: x; not done: y, z' },
            { reason: 'NotDone', field: '[2]', message: 'c: done: nothing; not done: x' },
          ],
        },
      })
    expect(finished).to.deep.equal(['a'])
  })

  it('does not reveal the cause of an internal error', async () => {
    const { change, run } = setUp(1, new Error('secret'))
    const error = await run([change('a', 'x', 'y')])
    expect(error).to.be.instanceOf(Status).and.include({ code: 500 })
    expect(String(error)).to.not.contain('secret')
  })

  it('names at most a few of many namespaces', async () => {
    const { change, run } = setUp(1)
    const places = Array.from({ length: 40 }, (_, i) => `n${i}`)
    const error = await run([change('a', ...places)])
    expect(error).to.be.instanceOf(Status)
    if (error instanceof Status) expect(error.details?.causes?.[0]?.message).to.match(/n16 and 23 more$/)
  })

  it('writes nothing for a request with too many writes', async () => {
    const { change, run, written } = setUp(-1)
    const places = Array.from({ length: 512 }, (_, i) => `n${i}`)
    expect(await run([change('a', ...places), change('b', ...places, 'x')]))
      .to.be.instanceOf(Status)
      .and.include({
        code: 400,
        message: 'a request may write at most 1024 bindings, and this one needs 1025',
      })
    expect(written).to.deep.equal([])
  })
})
