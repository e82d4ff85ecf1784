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
  if (platform() !== 'linux') return
  try {
    setPriority(0, nice)
  } catch {
    // A sandbox that forbids it leaves things as they are.
  }
}
