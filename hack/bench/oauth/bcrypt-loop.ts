import { hash, verify } from '@node-rs/bcrypt'
import { forEach } from '../../controlplane/for-each.ts'

// Usage: node bcrypt-loop.ts SECONDS THREADS. Prints how many passwords per second the cores can
// verify without other work.

const [seconds = 0, threads = 1] = process.argv.slice(2).map(Number)
const password = 'Correct horse 1'
const stored = await hash(password, 10)
const startedAt = performance.now()
let done = 0

async function work(): Promise<void> {
  while (performance.now() - startedAt < seconds * 1000) {
    await verify(password, stored)
    done++
  }
}

await forEach(0, threads, work, threads)
console.log((done / ((performance.now() - startedAt) / 1000)).toFixed(3))
