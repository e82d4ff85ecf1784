/** Runs `work` for each number from `from` up to but not including `to`, some concurrently. */
export async function forEach(
  from: number,
  to: number,
  work: (i: number) => Promise<unknown>,
  parallel = 32,
): Promise<void> {
  let next = from
  const worker = async () => {
    while (next < to) await work(next++)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
