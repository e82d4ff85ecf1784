import { readdirSync, readFileSync } from 'node:fs'
import { platform, setPriority } from 'node:os'

/**
 * Lets other threads of this process go first where there is not enough of the processor. Small values do: a group of
 * processes divides its share among processors by the weights of what runs there, and a thread at 10 that has one for itself
 * gets a tenth of it when other groups want it too.
 *
 * @param nice as in nice(2): 0 is what threads begin with, 19 goes last
 */
export function standBack(nice: number): void {
  // Linux takes 0 for the thread that calls (setpriority(2), "C library/kernel differences"); elsewhere it is the process.
  if (platform() === 'linux') setPriorityOf(0, nice)
}

/**
 * The same for the engine's helpers, which collect garbage and compile for all threads: one that begins to help another thread
 * would take the processor of the one that answers requests, for milliseconds, while others were free.
 */
export function standHelpersBack(nice: number): void {
  if (platform() !== 'linux') return
  for (const thread of threadsNamed('V8Worker')) setPriorityOf(thread, nice)
}

/** Those of this process, by the name that Node.js gives them. */
function threadsNamed(name: string): readonly number[] {
  const folder = '/proc/self/task'
  try {
    const threads = readdirSync(folder)
    return threads.filter(id => readFileSync(`${folder}/${id}/comm`, 'utf8').trim() === name).map(Number)
  } catch {
    return []
  }
}

function setPriorityOf(thread: number, nice: number): void {
  try {
    setPriority(thread, nice)
  } catch {
    // A sandbox that forbids it leaves things as they are.
  }
}
