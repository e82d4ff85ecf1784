import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createTimeSlices, createUserTimeSlices } from './time-slices.ts'

describe('createTimeSlices', () => {
  it('resumes one waiting task per turn of the event loop, in order', async () => {
    const timeSlices = createTimeSlices()
    const log: string[] = []
    const work = async (name: string): Promise<void> => {
      for (let slice = 0; slice < 3; slice += 1) {
        await timeSlices.next()
        log.push(name)
      }
    }
    const working = Promise.all([work('a'), work('b')])
    const observed: number[] = []
    while (log.length < 6) {
      await nextTurn()
      observed.push(log.length)
    }
    await working
    expect(log).to.deep.equal(['a', 'b', 'a', 'b', 'a', 'b'])
    for (const [i, count] of observed.entries()) expect(count - (observed[i - 1] ?? 0)).to.be.at.most(1)
  })

  it('starts again after all tasks were done', async () => {
    const timeSlices = createTimeSlices()
    await timeSlices.next()
    await nextTurn()
    await nextTurn()
    await timeSlices.next()
  })
})

describe('createUserTimeSlices', () => {
  it('runs the only task of a user after at most one other task, with any number of tasks of another user', async () => {
    const timeSlices = createUserTimeSlices()
    const order: string[] = []
    const take = (user: string) =>
      timeSlices
        .of(user)
        .next()
        .then(() => order.push(user))
    await Promise.all([...Array.from({ length: 50 }, () => take('busy')), take('other'), take('third')])
    expect(order.slice(0, 4)).to.deep.equal(['busy', 'other', 'third', 'busy'])
    expect(order).to.have.length(52)
  })
})
