import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/bcrypt'

// node bcrypt-loop.ts SECONDS: what the machine's cores give when they do nothing but check passwords. Prints how many a second.

const seconds = Number(process.argv[2])
const password = 'Correct horse 1'
const stored = await hash(password, { cost: 10 })
const startedAt = performance.now()
let done = 0

async function work(): Promise<void> {
  while (performance.now() - startedAt < seconds * 1000) {
    await verify(password, stored)
    done++
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
console.log((done / ((performance.now() - startedAt) / 1000)).toFixed(3))
